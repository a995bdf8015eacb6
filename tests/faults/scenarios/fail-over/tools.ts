import { startToolServer } from '../../../harness/tool-server.ts';
import { must } from '../fixture.ts';
import { forever } from '../workloads.ts';
import { anyReplica, brief, ended, type Json, persist, type StartLoad } from './load.ts';

/**
 * Calls of a real tool server that must not be repeated, each of which a person approves. Each is made once after its
 * approval, and again only when someone approved a call of unknown outcome.
 */
export const startTools: StartLoad = async (fixture) => {
  const problems: string[] = [];
  /** By the number of the call: approvals that were sent, and calls that arrived. */
  const approvals = new Map<string, number>();
  const calls = new Map<string, number>();
  const count = (of: Map<string, number>, n: string) => of.set(n, (of.get(n) ?? 0) + 1);
  const server = await startToolServer({
    tools: [
      {
        name: 'pay',
        annotations: { idempotentHint: false, destructiveHint: true },
        inputSchema: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] },
        result: (args) => {
          const n = String(args.n);
          if (!approvals.has(n)) problems.push(`the call ${n} came without an approval`);
          count(calls, n);
          return 'paid';
        },
      },
    ],
  });
  const api = fixture.api();
  const tools = await must(
    api.post('/tool-servers', {
      name: 'T',
      prefix: 't',
      url: server.url,
      default_policy: 'require_approval',
    }),
  );
  const agent = await must(
    api.post('/agents', {
      name: 'payer',
      mode: 'worker',
      tool_server_ids: [tools.id],
      settings: { max_concurrency: 20, max_attempts: 100 },
    }),
  );
  /** The ids of acknowledged Work Items, by the number of their call. */
  const items = new Map<string, string>();
  let made = 0;
  const load = forever(1, 150, async () => {
    const n = `n${made++}`;
    const steps = [{ tool: 't__pay', args: { n } }, { text: 'Done.' }];
    const item = await persist(fixture, (one, headers) =>
      one.post(
        '/work-items',
        { agent_id: agent.id, message: 'go', payload: { mock: { steps } } },
        { headers, ...brief() },
      ),
    );
    if (item.refused) problems.push(`a Work Item with a call: ${item.refused}`);
    else items.set(n, item.id);
  });
  let unknown = 0;
  /** Reviews that were decided, with a response. */
  const decided = new Set<string>();
  const person = forever(1, 150, async () => {
    const one = fixture.api(anyReplica(fixture));
    for (const status of ['NEEDS_REVIEW', 'INDETERMINATE']) {
      const list = await one
        .get(`/work-items?status=${status}&agent_id=${agent.id}&limit=100`, brief())
        .catch(() => null);
      for (const item of list?.status === 200 ? list.body.records : []) {
        if (decided.has(item.review_id)) problems.push(`the review ${item.review_id} waits again`);
        const waiting: Json[] = item.pending_approvals;
        for (const { arguments: args } of waiting) count(approvals, args.n);
        const decisions = waiting.map(({ approval_id }) => ({ approval_id, decision: 'approve' }));
        const response = await one
          .post(`/work-items/${item.id}/continue`, { decisions }, brief())
          .catch(() => null);
        if (response?.status !== 200) continue;
        decided.add(item.review_id);
        if (status === 'INDETERMINATE') unknown++;
      }
    }
  });
  let results: Record<string, number> = {};
  return {
    stop: () => load.stop(),
    problems: async (rows) => {
      // What waits for a decision gets one.
      results = await ended(rows, `agent_id = '${agent.id}' and status <> 'INDETERMINATE'`);
      await person.stop();
      const stored: Json[] = await rows(`select w.id, w.status,
        (select count(*)::int from reviews r where r.work_item_id = w.id and r.state = 'decided') as reviews
        from work_items w where w.agent_id = '${agent.id}'`);
      const byId = new Map(stored.map((row) => [row.id, row]));
      if (stored.length !== items.size)
        problems.push(`${stored.length} Work Items with a call, of ${items.size} that were acknowledged`);
      for (const [n, id] of items) {
        const row = byId.get(id);
        if (row?.status !== 'COMPLETED') problems.push(`the Work Item ${id} is ${row?.status}`);
        const times = calls.get(n) ?? 0;
        // The first review approves the call, each further one the call of unknown outcome.
        if (times < 1 || times > row?.reviews)
          problems.push(`the call ${n} was made ${times} times, after ${row?.reviews} reviews`);
      }
      return problems;
    },
    figures: () => ({ calls: calls.size, unknownOutcomes: unknown, callRuns: results }),
    [Symbol.asyncDispose]: async () => {
      await person.stop();
      await server[Symbol.asyncDispose]();
    },
  };
};
