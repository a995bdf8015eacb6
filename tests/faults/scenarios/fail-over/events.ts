import { until } from '../../../harness/wait.ts';
import { signed } from '../../../harness/webhook-sender.ts';
import { must } from '../fixture.ts';
import { forever } from '../workloads.ts';
import { anyReplica, brief, type Json, type StartLoad } from './load.ts';

/** Events of a webhook: each has the one entry that its 202 named, and one Work Item. */
export const startEvents: StartLoad = async (fixture) => {
  const api = fixture.api();
  const agent = await must(api.post('/agents', { name: 'hooked', mode: 'worker', execution: 'external' }));
  const hook: Json = await must(
    api.post(`/agents/${agent.id}/triggers`, {
      name: 't',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      mapping: { message: 'Event {{ event.body.n }}' },
    }),
  );
  const entries = new Map<string, string>();
  let event = 0;
  const load = forever(2, 50, async () => {
    const id = `event-${event++}`;
    const body = JSON.stringify({ n: id });
    const entry = await until(
      async () => {
        const { port } = fixture.replicas[anyReplica(fixture)]!;
        const response = await fetch(`http://127.0.0.1:${port}${new URL(hook.url).pathname}`, {
          method: 'POST',
          headers: signed(hook.secret, body, id) as Record<string, string>,
          body,
          ...brief(),
        });
        return response.status === 202 && ((await response.json()) as Json).occurrence_id;
      },
      120_000,
      50,
    );
    entries.set(id, entry);
  });
  return {
    stop: () => load.stop(),
    problems: async (rows) => {
      const problems: string[] = [];
      const stored = await rows<{ id: string; event_id: string; items: number }>(
        `select e.id, e.event_id, (select count(*)::int from work_items w where w.occurrence_id = e.id) as items
         from trigger_events e where e.trigger_id = '${hook.id}'`,
      );
      const byEvent = new Map(stored.map((row) => [row.event_id, row]));
      if (byEvent.size !== stored.length) problems.push('an event has two entries');
      for (const [id, entry] of entries) {
        const row = byEvent.get(id);
        if (row?.id !== entry || row.items !== 1)
          problems.push(`${id}: ${JSON.stringify(row)}, not ${entry}`);
      }
      return problems;
    },
    figures: () => ({ events: entries.size }),
    [Symbol.asyncDispose]: async () => {},
  };
};
