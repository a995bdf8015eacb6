import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import type { Operation } from '../api.ts';

/**
 * The peer of the API: bare Fastify that runs the statements of an operation as they are, prepared, and sends their
 * rows. It requires no key, validates nothing and shapes nothing. `OPERATIONS` has the operations, as JSON.
 */
const operations: Operation[] = JSON.parse(process.env.OPERATIONS!);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
const app = Fastify({ logger: false });

app.get('/readyz', () => ({}));
for (const { name, method, statements, newId } of operations)
  app.route({
    method,
    url: `/${name}`,
    handler: async () => {
      let rows: unknown[] = [];
      for (const [i, { text, values }] of statements.entries()) {
        const given = newId ? values.map((value) => (value === newId ? randomUUID() : value)) : values;
        ({ rows } = await pool.query({ name: `${name} ${i}`, text, values: given }));
      }
      return { data: rows };
    },
  });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
