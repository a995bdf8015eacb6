import { inputRequired } from '@modelcontextprotocol/server';
import { afterAll } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { startToolServer, type TestTool, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newAgent, ok, type onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;
type At = Parameters<Parameters<typeof onPostgres>[0]>[0];

/** An answer that nothing but the tool may see. */
export const answer = 'answer-that-is-secret-0123456789';
export const form = {
  type: 'object' as const,
  properties: {
    code: { type: 'string' as const, title: 'Code' },
    mail: { type: 'string' as const, format: 'email' as const },
    count: { type: 'integer' as const, minimum: 1, maximum: 9, default: 3 },
    sure: { type: 'boolean' as const, default: true },
    color: { type: 'string' as const, enum: ['red', 'green'] },
    sizes: { type: 'array' as const, items: { type: 'string' as const, enum: ['s', 'm', 'l'] } },
  },
  required: ['code'],
};
export const state = 'state é "\\u0000 \n of the server';
export const elicit = (message: string, requestedSchema: object = form) =>
  inputRequired.elicit({ message, requestedSchema } as never);

interface Options {
  tool?: Partial<TestTool>;
  era?: 'legacy' | 'modern' | 'both';
  server?: object;
  agent?: object;
}

/** Tool servers that ask for input, and Work Items whose agents call them, for the tests of the block. */
export const useToolInput = (at: At) => {
  const servers: TestToolServer[] = [];
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  let number = 0;
  /** A server whose tool `pay` gives `result`, and an agent that has it. */
  const setUp = async (
    result: TestTool['result'],
    { tool = {}, era = 'modern', server: fields = {}, agent = {} }: Options = {},
  ) => {
    const server = await startToolServer({ era, sessions: era === 'legacy' });
    servers.push(server);
    server.tools = [{ name: 'pay', ...(result ? { result } : {}), ...tool }];
    const prefix = `bank${++number}`;
    const { id } = await ok(
      at().api.post('/tool-servers', {
        name: prefix,
        prefix,
        url: server.url,
        default_policy: 'allow',
        ...fields,
      }),
    );
    const { id: agentId } = await newAgent(at(), { tool_server_ids: [id], ...agent });
    return { server, id: id as string, agentId: agentId as string, tool: `${prefix}__pay` };
  };
  const item = (id: string): Promise<Json> => ok(at().api.get(`/work-items/${id}`));
  const becomes = (id: string, status: string): Promise<Json> =>
    until(async () => {
      const now = await item(id);
      return now.status === status && now;
    }, 15_000);
  const start = async (
    { agentId, tool }: { agentId: string; tool: string },
    status = 'NEEDS_REVIEW',
    calls = 1,
  ): Promise<Json> => {
    const tools = Array.from({ length: calls }, (_, n) => ({ tool, args: { amount: 5 + n } }));
    const { id } = await ok(
      at().api.post('/work-items', {
        agent_id: agentId,
        payload: { mock: { steps: [{ tools }, { text: 'Done.' }] } },
      }),
    );
    return becomes(id, status);
  };
  const decide = (one: Json, decisions: object[], more: object = {}) =>
    at().api.post(`/reviews/${one.review_id}/decide`, {
      decisions: one.pending_approvals.map(({ approval_id }: Json, n: number) => ({
        approval_id,
        ...decisions[n],
      })),
      ...more,
    });
  const accept = (args?: object) => ({ decision: 'approve', ...(args ? { arguments: args } : {}) });
  const results = async (id: string): Promise<Json[]> =>
    (await ok(at().api.get(`/work-items/${id}/messages`))).data
      .toReversed()
      .flatMap(({ content }: Json) => content)
      .filter(({ type }: Json) => type === 'tool_result');
  /** All that is in the database, as text. */
  const database = async (): Promise<string> => {
    const tables = await at().sql`select tablename from pg_tables where schemaname = 'public'`;
    const all: string[] = [];
    for (const { tablename } of tables as Json[]) {
      const [row] = await at().test.platform.db.run(async (executor) => {
        const { rows } = await sql<{
          all: string | null;
        }>`select string_agg(t::text, chr(10)) as all from ${sql.table(tablename)} t`.execute(executor);
        return rows;
      });
      all.push(row?.all ?? '');
    }
    return all.join('\n');
  };

  /** The Work Item when it waits for another review than `before`. */
  const next = (before: Json): Promise<Json> =>
    until(async () => {
      const now = await item(before.id);
      return now.status === 'NEEDS_REVIEW' && now.review_id !== before.review_id && now;
    }, 15_000);
  return { servers, setUp, item, becomes, start, decide, accept, results, database, next };
};
