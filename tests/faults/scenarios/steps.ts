import { type CallbackReceiver, startCallbackReceiver } from '../../harness/callback-receiver.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;
const replicas = 3;

/** Lets so many Work Items wait, as a replica does that moves them; each gets its review within ten seconds. */
const wait = async (at: Fixture, agentId: string, items: number): Promise<string[]> =>
  at.inspect(async (rows) => {
    const pending = `jsonb_build_array(jsonb_build_object('approval_id', n::text, 'kind', 'tool_call', 'tool_name', 'pay',
      'tool_server_id', null, 'arguments', '{}'::jsonb, 'input_schema', null, 'reason', null,
      'requested_at', '2026-01-01T00:00:00.000Z', 'expires_at', null))`;
    const made = await rows<{
      id: string;
    }>(`insert into work_items (id, agent_id, agent_version, message, payload, status,
        created_by, conversation_id, pending_approvals)
      select new_id(), '${agentId}', 1, '', '{}', 'NEEDS_REVIEW', 'x', new_id(), ${pending}
      from generate_series(1, ${items}) n returning id`);
    return made.map(({ id }) => id);
  });

const number = (at: Fixture, query: string): Promise<number> =>
  at.inspect(async (rows) =>
    Number((await rows<{ n: number }>(`select count(*)::int as n from ${query}`))[0]!.n),
  );

/** What came at a path: the reviews of each event, and how many ids of messages it has. */
const received = ({ requests }: CallbackReceiver, path: string, type: string) => {
  const own = requests.filter((one) => one.path === path && one.body.type === type);
  return {
    reviews: new Set(own.map(({ body }) => body.data.id as string)),
    ids: new Set(own.map(({ headers }) => headers['webhook-id'])),
  };
};

const newWay = async (
  at: Fixture,
  origin: string,
  agent: object,
  steps: Record<string, number>,
): Promise<string> => {
  const api = at.api();
  const { id }: Json = await must(
    api.post('/agents', { name: 'A', mode: 'worker', execution: 'external', ...agent }),
  );
  const channels: object[] = [];
  for (const [name, after_minutes] of Object.entries(steps)) {
    const made = await must(api.post('/channels', { name, kind: 'webhook', url: `${origin}/${name}` }));
    channels.push({ channel_id: made.id, to: 'channel', after_minutes });
  }
  await must(api.post('/routes', { name: 'R', for: 'reviews', steps: channels }));
  return id;
};

/**
 * Reviews with steps after five and ten minutes and an expiry after fifteen. In the middle of each a replica is killed, and
 * the clock goes back and forth; some of the reviews are decided before the first of these. Resolves to what came where.
 */
export const runSteps = async ({ items, decided }: { items: number; decided: number }) => {
  await using receiver = await startCallbackReceiver();
  await using at = await Fixture.open('postgres', replicas);
  await Promise.all(at.replicas.map((_, i) => at.start(i)));
  const timeout = { approval_timeout_seconds: 900 };
  const agentId = await newWay(at, receiver.url, timeout, { now: 0, five: 5, ten: 10 });
  await wait(at, agentId, items);
  await until(() => received(receiver, '/now', 'review.opened').reviews.size === items, 60_000);

  const some = [...received(receiver, '/now', 'review.opened').reviews].slice(0, decided);
  for (const id of some) await must(at.api(1).post(`/reviews/${id}/decide`, { message: 'No.' }));
  const open = items - decided;
  /** Moves the clock to the next thing, and kills a replica as soon as any of it is done. */
  const nextOver = async (victim: number, isBegun: () => Promise<boolean>): Promise<void> => {
    await at.moveClock(5 * minute + 1_000);
    await at.moveClock(-2 * minute);
    await at.moveClock(2 * minute);
    await until(isBegun, 60_000, 5);
    await at.kill(victim);
    await at.start(victim);
  };
  const arrived = (path: string) => received(receiver, path, 'review.opened').reviews.size;
  for (const [victim, path] of ['/five', '/ten'].entries()) {
    await nextOver(victim, async () => arrived(path) > 0);
    await until(() => arrived(path) === open, 90_000);
  }
  const expired = `reviews where state = 'expired'`;
  await nextOver(2, async () => (await number(at, expired)) > 0);
  await until(async () => (await number(at, expired)) === open, 90_000);
  await until(() => received(receiver, '/ten', 'review.closed').reviews.size === open, 90_000);

  const opened = ['/now', '/five', '/ten'].map((path) => received(receiver, path, 'review.opened'));
  return {
    opened: opened.map(({ reviews }) => reviews.size),
    /** A message that comes twice has the same id. */
    ids: opened.map(({ ids }) => ids.size),
    tooLate: opened.slice(1).some(({ reviews }) => some.some((id) => reviews.has(id))),
    messages: await number(at, 'channel_messages'),
    left: await number(at, 'route_steps'),
    continued: await number(at, `work_item_events where action = 'continue'`),
    expiries: await number(at, `audits where action = 'review.expire'`),
  };
};

/** A channel responds with 503 for an hour, in which some of the reviews are decided. Resolves to what came of all of it. */
export const runOutage = async ({ items, decided }: { items: number; decided: number }) => {
  await using receiver = await startCallbackReceiver();
  await using at = await Fixture.open('postgres', 1);
  await at.start();
  receiver.respondWith(503);
  const agentId = await newWay(at, receiver.url, {}, { now: 0 });
  await wait(at, agentId, items);
  const tried = () => new Set(receiver.requests.map(({ body }) => body.data.id as string));
  await until(() => tried().size === items, 60_000);
  for (const id of [...tried()].slice(0, decided)) {
    await must(at.api().post(`/reviews/${id}/decide`, { message: 'No.' }));
  }
  /** Wakes the loop of messages, whose pauses are by the clock of the process. */
  const wake = () =>
    at.inspect(async (rows) => void (await rows(`select pg_notify('channel_messages', '')`)));
  /** Resolves when nothing is due, and nothing under way: its next attempt is counted from its end. */
  const settled = () =>
    until(async () => {
      const busy = 'next_attempt_at <= platform_now() or leased_until > platform_now()';
      return (await number(at, `channel_messages where state = 'pending' and (${busy})`)) === 0;
    }, 60_000);
  await settled();
  for (let n = 0; n < 10; n++) {
    await at.moveClock(6 * minute);
    const before = receiver.requests.length;
    await wake();
    await until(() => receiver.requests.length > before, 30_000);
    await settled();
  }
  receiver.respondWith(204);
  const before = receiver.requests.length;
  await at.moveClock(6 * minute);
  await wake();
  await until(async () => (await number(at, `channel_messages where state = 'pending'`)) === 0, 60_000);
  const came = receiver.requests.slice(before);
  return {
    delivered: new Set(came.map(({ body }) => body.data.id)).size,
    types: [...new Set(came.map(({ body }: Json) => body.type))],
    closedBefore: await number(
      at,
      `channel_messages where state = 'failed' and last_error = 'Closed before it was delivered.'`,
    ),
    stillOpen: await number(at, `reviews where state = 'open'`),
    continued: await number(at, `work_item_events where action = 'continue'`),
  };
};
