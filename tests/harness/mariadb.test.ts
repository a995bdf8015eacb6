import { expect, it } from 'vitest';
import { describeWithMariaDb, sharedMariaDb } from './mariadb.ts';

describeWithMariaDb('the MariaDB of the tests', () => {
  it('has databases, and root may do everything in them', async () => {
    const server = await sharedMariaDb();
    const connection = await server.connect({ database: await server.createDatabase() });
    try {
      await connection.query('create table t (name varchar(10))');
      await connection.query("insert into t values ('日本')");
      const [rows] = await connection.query('select name from t');
      expect(rows).toEqual([{ name: '日本' }]);
      await connection.query("create user 'harness_reader'@'%' identified by 'secret'");
      await connection.query("drop user 'harness_reader'@'%'");
    } finally {
      connection.destroy();
    }
    expect(await sharedMariaDb()).toBe(server);
  });
});
