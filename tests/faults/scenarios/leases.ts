import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import { startOtlpReceiver } from '../../harness/otlp-receiver.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

export type Fault = 'SIGKILL' | 'SIGSTOP';

export interface LeasesReport {
  items: number;
  /** How often an item was taken from a lost worker. */
  takenOver: number;
  problems: string[];
}

const leaseSeconds = 2;
/** An agent with enough attempts for all faults. */
const agentBody = {
  name: 'Patient',
  mode: 'worker',
  settings: { max_attempts: 100, max_concurrency: 100 },
};

const modelReply = (milliseconds: number) => ({
  mock: { steps: [{ text: 'the answer', delay_ms: milliseconds }] },
});

interface ItemRow {
  id: string;
  status: string;
  result: string;
  attempts: number;
  claims: number;
  lost: number;
  completions: number;
  replies: number;
}

/**
 * Two replicas execute Work Items. At each fault the one that executes is killed and started again, or stopped until
 * its leases have expired and the other has its items; then it continues with what it still considers its own.
 */
export const runLeases = async (faults: readonly Fault[], itemsAFault: number): Promise<LeasesReport> => {
  await using fixture = await Fixture.open('postgres', 2);
  await Promise.all([fixture.start(0), fixture.start(1)]);
  await must(fixture.api().patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: leaseSeconds }));
  const agent = await must(fixture.api().post('/agents', agentBody));
  let items = 0;
  for (const [n, fault] of faults.entries()) {
    const victim = n % 2;
    const api = fixture.api(1 - victim);
    const pid = fixture.replicas[victim]!.process!.pid;
    const offer = async (count: number): Promise<void> => {
      items += count;
      await Promise.all(
        Array.from({ length: count }, () =>
          must(api.post('/work-items', { agent_id: agent.id, payload: modelReply(1_500) })),
        ),
      );
    };
    await offer(itemsAFault);
    const held = (): Promise<boolean> =>
      fixture.inspect(async (rows) => {
        const found = await rows(
          `select 1 from work_items where status = 'EXECUTING' and lease_owner like '%:${pid}'`,
        );
        return found.length > 0;
      });
    // The other replica may be quicker, until it has as many as it takes at once.
    await until(async () => (await held()) || (await offer(1)), 20_000, 100);
    if (fault === 'SIGKILL') {
      await fixture.kill(victim);
      await until(async () => !(await held()), 20_000);
      await fixture.start(victim);
    } else {
      // If that was inside a transaction, its locks are free only when the server ends it, after 5 s.
      process.kill(pid, 'SIGSTOP');
      try {
        await until(async () => !(await held()), 30_000);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await until(async () => (await fixture.api(victim, '').get('/readyz')).status === 200);
    }
  }
  const rows = await until(
    () =>
      fixture.inspect(async (query) => {
        const all = await query<ItemRow>(`select w.id, w.status, w.result #>> '{}' as result, w.attempts,
          (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'claim') as claims,
          (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'lease_lost') as lost,
          (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.to_status = 'COMPLETED'
            and e.from_status = 'EXECUTING') as completions,
          (select count(*)::int from work_item_messages m where m.work_item_id = w.id and m.role = 'assistant') as replies
          from work_items w`);
        return all.every(({ status }) => status === 'COMPLETED' || status === 'ERROR') && all;
      }),
    60_000,
    100,
  );
  const problems = rows.flatMap((row) => {
    const once = row.completions === 1 && row.replies === 1 && row.result === 'the answer';
    const counted = row.claims === row.attempts && row.claims === row.lost + 1;
    return row.status === 'COMPLETED' && once && counted ? [] : [JSON.stringify(row)];
  });
  if (rows.length !== items) problems.push(`${rows.length} of ${items} Work Items`);
  return { items, takenOver: rows.reduce((sum, { lost }) => sum + lost, 0), problems };
};

/**
 * Sends SIGTERM while a Work Item executes and a backend hangs. Resolves to how the process exits, and what becomes of
 * the item.
 */
export const runStop = async () => {
  await using fixture = await Fixture.open('embedded');
  await using hanging = await startOtlpReceiver();
  hanging.respondWith({ hang: true });
  await fixture.start();
  const api = fixture.api();
  const settings = { provider: 'otlp_custom_headers', url: hanging.url };
  await must(api.post('/observability/integrations', { version: '1', settings }));
  const agent = await must(api.post('/agents', agentBody));
  const item = await must(api.post('/work-items', { agent_id: agent.id, payload: modelReply(120_000) }));
  await until(async () => (await must(api.get(`/work-items/${item.id}`))).status === 'EXECUTING');
  await api.raw('POST', '/telemetry/v1/traces', spansNamed('span', 1, agent.id), {
    headers: { 'content-type': 'application/x-protobuf' },
  });
  await hanging.waitForRequests(1);
  const begun = Date.now();
  const exit = await fixture.replicas[0]!.process!.kill('SIGTERM');
  const milliseconds = Date.now() - begun;
  const [row] = await fixture.inspect((rows) =>
    rows<{ status: string; attempts: number }>('select status, attempts from work_items'),
  );
  return { exit, milliseconds, row };
};
