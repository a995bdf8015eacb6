import { setTimeout as sleep } from 'node:timers/promises';
import { type CallbackReceiver, startCallbackReceiver } from '../../harness/callback-receiver.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** An agent for external workers that reports what is completed to `url`. */
export const externalAgent = (url: string) => ({
  name: 'External',
  mode: 'worker',
  execution: 'external',
  settings: { max_attempts: 100, max_concurrency: 100 },
  callbacks: [{ url, events: ['work_item.completed'] }],
});

/** Kills the replica that has a callback in flight. Resolves to what the receiver got before and after the lease. */
export const runKilledDelivery = async (): Promise<{ early: number; ids: string[]; attempts: number }> => {
  await using fixture = await Fixture.open('postgres', 2);
  await using receiver = await startCallbackReceiver();
  receiver.respondWith('hang');
  await Promise.all([fixture.start(0), fixture.start(1)]);
  const other = fixture.replicas[1]!.process!.pid;
  const api = fixture.api();
  const agent = await must(api.post('/agents', externalAgent(receiver.url)));
  const item = await must(api.post('/work-items', { agent_id: agent.id }));
  const { records } = (await must(api.post('/work-items/claim', { agent_ids: [agent.id] }))) as Json;
  // The other replica stands still, not dead: a start could take longer than the lease on a busy machine.
  process.kill(other, 'SIGSTOP');
  const body = { lease_token: records[0].lease_token, outcome: 'COMPLETED' };
  await must(api.post(`/work-items/${item.id}/finish`, body));
  await until(() => receiver.requests.length === 1);
  await fixture.kill();
  receiver.respondWith(204);
  process.kill(other, 'SIGCONT');
  // The lease of the lost replica holds: a loop that looked has sent nothing.
  await sleep(1_000);
  const early = receiver.requests.length;
  await fixture.moveClock(21_000);
  await fixture.inspect(async (rows) => void (await rows(`select pg_notify('callbacks', '')`)));
  const [row] = await until(() =>
    fixture.inspect(async (rows) => {
      const found = await rows<{ state: string; attempts: number }>(
        'select state, attempts from callback_deliveries',
      );
      return found[0]!.state === 'delivered' && found;
    }),
  );
  const ids = receiver.requests.map(({ headers }) => String(headers['webhook-id']));
  return { early, ids, attempts: row!.attempts };
};

/**
 * A worker that claims and finishes on whichever replica responds, until `done`. It works for `holdMs` on each Work Item
 * and sends a heartbeat every 3 s of it.
 */
export const work = async (
  fixture: Fixture,
  agentId: string,
  done: () => boolean,
  { waitSeconds = 1, holdMs = 0 } = {},
): Promise<void> => {
  const replicas = fixture.replicas.length;
  let replica = 0;
  const post = async (path: string, body: object): Promise<{ status: number; body: Json } | null> => {
    try {
      const response = await fixture.api(replica).post(path, body, { signal: AbortSignal.timeout(5_000) });
      return response.status >= 500 ? null : response;
    } catch {
      return null;
    }
  };
  while (!done()) {
    const claimed = await post('/work-items/claim', {
      agent_ids: [agentId],
      lease_seconds: 10,
      wait_seconds: waitSeconds,
    });
    for (const { work_item, lease_token } of claimed?.body.records ?? []) {
      for (let left = holdMs; left > 0; left -= 3_000) {
        await sleep(Math.min(left, 3_000));
        await post(`/work-items/${work_item.id}/heartbeat`, { lease_token });
      }
      const body = { lease_token, outcome: 'COMPLETED', result: 'done', usage: { model_calls: 1 } };
      // Repeated until there is a response: whether a lost one arrived is not known.
      while (!done() && !(await post(`/work-items/${work_item.id}/finish`, body))) {
        replica = (replica + 1) % replicas;
        await sleep(20);
      }
    }
    if (claimed) continue;
    replica = (replica + 1) % replicas;
    await sleep(20);
  }
};

interface ItemRow {
  id: string;
  status: string;
  calls: number;
  completions: number;
  delivery: string | null;
  deliveries: number;
}

const itemRows = `select w.id, w.status, (w.usage ->> 'model_calls')::int as calls,
  (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.to_status = 'COMPLETED'
    and e.from_status = 'EXECUTING') as completions,
  (select min(d.id::text) from callback_deliveries d where d.work_item_id = w.id and d.state = 'delivered') as delivery,
  (select count(*)::int from callback_deliveries d where d.work_item_id = w.id) as deliveries from work_items w`;

const problemOf = (row: ItemRow, receiver: CallbackReceiver): string | null => {
  const ids = new Set(receiver.of(row.id).map(({ headers }) => headers['webhook-id']));
  const once = row.completions === 1 && row.calls === 1 && row.deliveries === 1;
  return once && ids.size === 1 && ids.has(row.delivery ?? '')
    ? null
    : JSON.stringify({ ...row, ids: [...ids] });
};

export interface ExternalReport {
  items: number;
  /** Callbacks that arrived more than once. */
  repeated: number;
  problems: string[];
}

/**
 * External workers claim and finish over two replicas, which are killed in turn and started again. Every Work Item is
 * completed once, its usage is counted once, and its callback arrives, always with one id.
 */
export const runExternal = async (kills: number, itemsAKill: number): Promise<ExternalReport> => {
  await using fixture = await Fixture.open('postgres', 2);
  await using receiver = await startCallbackReceiver();
  await Promise.all([fixture.start(0), fixture.start(1)]);
  const agent = await must(fixture.api().post('/agents', externalAgent(receiver.url)));
  let ended = false;
  const workers = Array.from({ length: 6 }, () => work(fixture, String(agent.id), () => ended));
  let items = 0;
  try {
    for (let n = 0; n < kills; n++) {
      const victim = n % 2;
      const list = Array.from({ length: itemsAKill }, () => ({ agent_id: agent.id }));
      await must(fixture.api(1 - victim).post('/work-items/bulk', { items: list }));
      items += itemsAKill;
      await sleep(20 + ((n * 37) % 150));
      await fixture.kill(victim);
      await fixture.start(victim);
    }
    // What was claimed or in flight at a kill is free when its lease ends.
    const rows = await until(
      async () => {
        await fixture.moveClock(10_000);
        const channels = `select pg_notify('callbacks', ''), pg_notify('work_items', '')`;
        await fixture.inspect(async (query) => void (await query(channels)));
        await sleep(500);
        const all = await fixture.inspect((query) => query<ItemRow>(itemRows));
        return all.every(({ status, delivery }) => status === 'COMPLETED' && delivery) && all;
      },
      60_000,
      100,
    );
    const problems = rows.flatMap((row) => problemOf(row, receiver) ?? []);
    if (rows.length !== items) problems.push(`${rows.length} of ${items} Work Items`);
    return { items, repeated: receiver.requests.length - items, problems };
  } finally {
    ended = true;
    await Promise.all(workers);
  }
};
