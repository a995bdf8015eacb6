import { inputRequired } from '@modelcontextprotocol/server';
import { startToolServer } from '../../harness/tool-server.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const form = {
  type: 'object' as const,
  properties: { code: { type: 'string' as const } },
  required: ['code'],
};
const code = 'answer-that-is-secret-0123456789';

/**
 * Kills the only replica twice for each of these tools, which ask for input: when a person has answered and the call is not
 * repeated yet, and when the repeated call was sent. Resolves to what became of each, and to what each call sent.
 */
export const runInputKills = async () => {
  await using fixture = await Fixture.open('postgres', 1);
  let gate: PromiseWithResolvers<void> = Promise.withResolvers();
  let hangs = false;
  const sent: string[] = [];
  const tool = (name: string, idempotentHint: boolean) => ({
    name,
    annotations: { idempotentHint },
    result: async (_: unknown, { mcpReq }: Json) => {
      const given = mcpReq.inputResponses;
      sent.push(`${name} ${given ? `${given.who.content.code} ${mcpReq.requestState()}` : 'asks'}`);
      if (!given) {
        const who = inputRequired.elicit({ message: 'Which code?', requestedSchema: form });
        return inputRequired({ inputRequests: { who }, requestState: 'the state' });
      }
      if (hangs) await gate.promise;
      return 'paid';
    },
  });
  await using server = await startToolServer({
    era: 'modern',
    tools: [tool('safe', true), tool('unsafe', false)],
  });
  await fixture.start();
  let api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const llm = await must(api.post('/llm-configurations', { kind: 'mock', name: 'M', model: 'mock' }));
  const tools = await must(
    api.post('/tool-servers', { name: 'T', prefix: 't', url: server.url, default_policy: 'allow' }),
  );
  const agent = await must(
    api.post('/agents', { name: 'A', mode: 'worker', llm_id: llm.id, tool_server_ids: [tools.id] }),
  );
  const ids: Record<string, string> = {};
  for (const name of ['safe', 'unsafe']) {
    const steps = [{ tool: `t__${name}`, args: {} }, { text: 'Done.' }];
    const item: Json = await must(
      api.post('/work-items', { agent_id: agent.id, payload: { mock: { steps } } }),
    );
    ids[name] = item.id;
  }
  const becomes = (name: string, status: string): Promise<Json> =>
    until(async () => {
      const item: Json = await must(api.get(`/work-items/${ids[name]}`));
      return item.status === status && item;
    }, 40_000);
  const decide = (item: Json, answers?: object) =>
    must(
      api.post(`/work-items/${item.id}/continue`, {
        decisions: item.pending_approvals.map(({ approval_id }: Json) => ({
          approval_id,
          decision: 'approve',
          ...(answers ? { arguments: answers } : {}),
        })),
      }),
    );
  const waiting = [await becomes('safe', 'NEEDS_REVIEW'), await becomes('unsafe', 'NEEDS_REVIEW')];
  hangs = true;
  for (const item of waiting) await decide(item, { code });
  await fixture.kill();
  await fixture.start();
  api = fixture.api();
  await until(async () => {
    // The kill may have come after the call was noted and before it was sent: then a person decides once more.
    const unsafe: Json = await must(api.get(`/work-items/${ids.unsafe}`));
    if (unsafe.status === 'INDETERMINATE') await decide(unsafe);
    return ['safe', 'unsafe'].every((name) => sent.includes(`${name} ${code} the state`));
  }, 40_000);
  const dump = await fixture.inspect(async (rows) => {
    const tables = await rows<Json>(`select tablename from pg_tables where schemaname = 'public'`);
    const all: string[] = [];
    for (const { tablename } of tables) {
      const [row] = await rows<Json>(`select string_agg(t::text, ' ') as all from ${tablename} t`);
      all.push(row.all ?? '');
    }
    return all.join('\n');
  });
  await fixture.kill();
  hangs = false;
  gate.resolve();
  gate = Promise.withResolvers();
  await fixture.start();
  api = fixture.api();
  const lost = await becomes('unsafe', 'INDETERMINATE');
  await becomes('safe', 'COMPLETED');
  const before = sent.filter((call) => call.startsWith('unsafe')).length;
  await decide(lost);
  await becomes('unsafe', 'COMPLETED');
  const left = await fixture.inspect((rows) => rows('select id from tool_inputs'));
  return {
    inClear: dump.includes(code),
    /** The call that must not be repeated was made again only when a person said so. */
    again: sent.filter((call) => call.startsWith('unsafe')).length - before,
    asks: sent.filter((call) => call.endsWith(' asks')).sort(),
    others: [...new Set(sent.filter((call) => !call.endsWith(' asks')))].sort(),
    left: left.length,
  };
};
