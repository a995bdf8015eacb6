import { startCallbackReceiver } from '../../../harness/callback-receiver.ts';
import { until } from '../../../harness/wait.ts';
import { must } from '../fixture.ts';
import { forever } from '../workloads.ts';
import { anyReplica, brief, ended, type Json, persist, type StartLoad } from './load.ts';

/** Work Items with a callback, every third with an approval, which a person gives. */
export const startRuns: StartLoad = async (fixture) => {
  const receiver = await startCallbackReceiver();
  const agent = await must(
    fixture.api().post('/agents', { name: 'runs', mode: 'worker', settings: { max_concurrency: 20 } }),
  );
  const problems: string[] = [];
  /** The ids of the acknowledged ones. */
  const items = new Set<string>();
  let made = 0;
  const runs = forever(2, 100, async () => {
    const last =
      made++ % 3 === 0
        ? { tool: 'request_review', args: { reason: 'Look' } }
        : { text: 'Done.', delay_ms: 300 };
    const item = await persist(fixture, (api, headers) =>
      api.post(
        '/work-items',
        {
          agent_id: agent.id,
          message: 'go',
          payload: { mock: { steps: [{ tool: 'current_time' }, last] } },
          callbacks: [{ url: `${receiver.url}/cb`, events: ['work_item.completed'] }],
        },
        { headers, ...brief() },
      ),
    );
    if (item.refused) problems.push(`a Work Item: ${item.refused}`);
    else items.add(item.id);
  });
  /** Continues what waits for a person. Each is decided once: what was decided does not wait again. */
  const decided = new Set<string>();
  const approvals = forever(1, 200, async () => {
    const api = fixture.api(anyReplica(fixture));
    const waiting = await api
      .get(`/work-items?status=NEEDS_REVIEW&agent_id=${agent.id}&limit=100`, brief())
      .catch(() => null);
    for (const { id } of waiting?.status === 200 ? waiting.body.records : []) {
      if (decided.has(id)) problems.push(`the Work Item ${id} waits again`);
      const { status } = await api
        .post(`/work-items/${id}/continue`, undefined, brief())
        .catch(() => ({ status: 0 }));
      if (status === 200) decided.add(id);
    }
  });
  let results: Record<string, number> = {};
  return {
    stop: () => runs.stop(),
    problems: async (rows) => {
      results = await ended(rows, `agent_id = '${agent.id}'`);
      await approvals.stop();
      const stored: Json[] = await rows(`select id, status from work_items where agent_id = '${agent.id}'`);
      const statuses = new Map(stored.map(({ id, status }) => [id, status]));
      for (const id of items)
        if (statuses.get(id) !== 'COMPLETED') problems.push(`the Work Item ${id} is ${statuses.get(id)}`);
      if (stored.length !== items.size)
        problems.push(`${stored.length} Work Items, of ${items.size} that were acknowledged`);
      await until(() => [...items].every((id) => receiver.of(id).length > 0), 90_000, 100).catch(() => {
        const without = [...items].filter((id) => receiver.of(id).length === 0);
        problems.push(`${without.length} Work Items of ${items.size} have no callback`);
      });
      return problems;
    },
    figures: () => ({ runs: results, approvals: decided.size }),
    [Symbol.asyncDispose]: async () => {
      await approvals.stop();
      await receiver[Symbol.asyncDispose]();
    },
  };
};
