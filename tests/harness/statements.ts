import pg from 'pg';

export interface DriverStatement {
  text: string;
  values?: unknown[];
  name?: string;
}

/**
 * Every statement of every PostgreSQL client in this process goes through `intercept`, which sends it with `send`,
 * changed or not. Ends when the result is disposed.
 */
export const interceptStatements = (
  intercept: (
    statement: DriverStatement,
    send: (statement: DriverStatement) => Promise<unknown>,
  ) => Promise<unknown>,
): Disposable => {
  const original = pg.Client.prototype.query;
  const query = original as unknown as (this: pg.Client, ...args: unknown[]) => Promise<unknown>;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement, ...rest] = args as [Partial<DriverStatement> | undefined, ...unknown[]];
    if (typeof statement?.text !== 'string') return query.apply(this, args);
    return intercept(statement as DriverStatement, (changed) => query.call(this, changed, ...rest));
  } as never;
  return {
    [Symbol.dispose]: () => {
      pg.Client.prototype.query = original;
    },
  };
};
