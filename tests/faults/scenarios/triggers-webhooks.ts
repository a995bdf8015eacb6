import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { int, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import { postKept, signed } from '../../harness/webhook-sender.ts';
import { Fixture, must } from './fixture.ts';

export interface WebhookKillsOptions {
  /** Distinct events. Each is delivered one to five times. */
  events: number;
  /** Further events, each delivered to all replicas at one instant before the first kill. */
  races: number;
  /** SIGKILLs of replicas. */
  kills: number;
  seed: number;
}

export interface WebhookKillsReport {
  /** Deliveries that were asked for. */
  asked: number;
  /** Requests, with those that were sent again because they had no 202. */
  requests: number;
  kills: number;
  items: number;
  /** Further deliveries of events that were stored before, in the ledger. */
  further: number;
  problems: string[];
}

interface Hook {
  id: string;
  path: string;
  secret: string;
}

const replicas = 3;
const hooks = 3;
const senders = 24;

/** One delivery: its event, and who makes it. */
interface Delivery {
  event: number;
  hook: Hook;
}

const bodyOf = (event: number): string => JSON.stringify({ n: event, text: 'x'.repeat(event % 200) });

/** Sends an event once. Resolves to the id of its entry, or to null if there was no 202. */
const post = async (agent: Agent, port: number, { hook, event }: Delivery): Promise<string | null> => {
  const body = bodyOf(event);
  const headers = signed(hook.secret, body, `event-${event}`);
  try {
    const { status, text } = await postKept(agent, { port, path: hook.path }, headers, body);
    return status === 202 ? JSON.parse(text).occurrence_id : null;
  } catch {
    return null;
  }
};

const shuffled = <T>(values: readonly T[], random: Random): T[] => {
  const all = [...values];
  for (let i = all.length - 1; i > 0; i--) {
    const j = int(random, 0, i);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
};

/** What senders know: requests, and what each 202 said. */
class Tally {
  requests = 0;
  /** Requests without a 202: whether they were stored is not known. */
  unknown = 0;
  acknowledged = 0;
  readonly entries = new Map<number, string>();
  readonly problems: string[] = [];

  note(event: number, entry: string | null): void {
    this.requests += 1;
    if (entry === null) {
      this.unknown += 1;
      return;
    }
    this.acknowledged += 1;
    const before = this.entries.get(event);
    if (before !== undefined && before !== entry)
      this.problems.push(`event ${event} has the entries ${before} and ${entry}`);
    this.entries.set(event, entry);
  }
}

const newHooks = async (at: Fixture): Promise<Hook[]> => {
  const api = at.api();
  const agent = await must(api.post('/agents', { name: 'a', mode: 'worker', execution: 'external' }));
  const made: Hook[] = [];
  for (let n = 0; n < hooks; n++) {
    const trigger = await must(
      api.post(`/agents/${agent.id}/triggers`, {
        name: `t${n}`,
        kind: 'webhook',
        settings: { scheme: 'standard_webhooks' },
        mapping: { message: 'Event {{ event.body.n }}' },
      }),
    );
    const { id, url, secret } = trigger as unknown as { id: string; url: string; secret: string };
    made.push({ id, secret, path: new URL(url).pathname });
  }
  return made;
};

/** What is wrong at the end: each event has one entry and one Work Item, and the counts agree with what was acknowledged. */
const compare = async (
  at: Fixture,
  events: number,
  tally: Tally,
): Promise<{ items: number; further: number; problems: string[] }> =>
  at.inspect(async (rows) => {
    const entries = await rows<{
      id: string;
      event_id: string;
      deliveries: number;
      outcome: string;
      items: number;
    }>(
      `select e.id, e.event_id, e.deliveries, e.outcome,
         (select count(*)::integer from work_items w where w.occurrence_id = e.id) as items
       from trigger_events e`,
    );
    const [{ items, repeated }] = (await rows<{ items: number; repeated: number }>(
      `select (select count(*)::integer from work_items) as items,
         (select coalesce(sum(count), 0)::integer from trigger_event_counts where outcome = 'repeated') as repeated`,
    )) as [{ items: number; repeated: number }];
    const problems = [...tally.problems];
    if (entries.length !== events) problems.push(`${entries.length} entries of ${events} events`);
    if (items !== events) problems.push(`${items} Work Items of ${events} events`);
    for (const { id, event_id, outcome, items: own } of entries) {
      if (outcome !== 'fired' || own !== 1) problems.push(`${event_id} is ${outcome} with ${own} Work Items`);
      const known = tally.entries.get(Number(event_id.slice('event-'.length)));
      if (known !== id) problems.push(`${event_id} has the entry ${id}, but ${known} was acknowledged`);
    }
    const stored = entries.reduce((sum, { deliveries }) => sum + deliveries, 0);
    const further = stored - entries.length;
    if (further !== repeated)
      problems.push(`${further} further deliveries in the ledger, ${repeated} counted`);
    // What was cut off after its commit is stored without an acknowledgement.
    if (stored < tally.acknowledged || stored > tally.acknowledged + tally.unknown)
      problems.push(
        `${stored} deliveries stored, ${tally.acknowledged} acknowledged, ${tally.unknown} unknown`,
      );
    return { items, further, problems };
  });

/**
 * Each of `races` events is delivered to three replicas at one instant. Then events are delivered one to five times each, in any order and at once, to three replicas that are killed by SIGKILL
 * meanwhile. What got no 202 is sent again, to another replica, until it has one.
 */
export const runWebhookKills = async ({
  events,
  races,
  kills,
  seed,
}: WebhookKillsOptions): Promise<WebhookKillsReport> => {
  const random = seeded(seed);
  await using at = await Fixture.open('postgres', replicas);
  await Promise.all(at.replicas.map((_, i) => at.start(i)));
  const made = await newHooks(at);
  const deliveries = Array.from({ length: events }, (_, event) =>
    Array.from({ length: int(random, 1, 5) }, () => ({ event, hook: made[event % hooks]! })),
  ).flat();
  const queue = shuffled(deliveries, random);
  const asked = queue.length;
  const tally = new Tally();
  const agent = new Agent({ keepAlive: true, maxSockets: senders });
  for (let event = events; event < events + races; event++) {
    const delivery = { event, hook: made[event % hooks]! };
    const entries = await Promise.all(at.replicas.map(({ port }) => post(agent, port, delivery)));
    for (const entry of entries) tally.note(event, entry);
  }
  if (tally.unknown > 0) tally.problems.push(`${tally.unknown} requests had no 202 before the first kill`);
  let turn = 0;
  const send = async (): Promise<void> => {
    for (let delivery = queue.pop(); delivery; delivery = queue.pop()) {
      for (;;) {
        const entry = await post(agent, at.replicas[turn++ % replicas]!.port, delivery);
        tally.note(delivery.event, entry);
        if (entry !== null) break;
        await sleep(10);
      }
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, send));
  let killed = 0;
  // The kills are spread over the deliveries, however fast those are.
  for (let n = 1; n <= kills; n++) {
    while (queue.length > asked - (asked * n) / (kills + 1)) await sleep(2);
    if (queue.length === 0) break;
    const victim = int(random, 0, replicas - 1);
    await at.kill(victim);
    killed += 1;
    await at.start(victim);
  }
  await sending;
  agent.destroy();
  const { requests } = tally;
  return { asked, requests, kills: killed, ...(await compare(at, events + races, tally)) };
};
