import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick } from '../../../../packages/cron/tests/random.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../../harness/callback-receiver.ts';
import type { Client } from '../../../harness/http.ts';
import { startToolServer, type TestToolServer } from '../../../harness/tool-server.ts';
import { externalAgent, work } from '../external.ts';
import { must, type Rows } from '../fixture.ts';
import { forever, type Workload } from '../workloads.ts';
import type { Caller } from './caller.ts';

/** What Work Items do, by kind, and how they must end. */
const kinds = {
  plain: { ends: ['COMPLETED'], steps: [{ text: 'done' }] },
  tool: { ends: ['COMPLETED'], steps: [{ tool: 't__read', args: { place: 'x' } }, { text: 'done' }] },
  slow: { ends: ['COMPLETED'], steps: [{ text: 'done', delay_ms: 4_000 }] },
  reviewed: { ends: ['COMPLETED'], steps: [{ tool: 'request_review', args: { reason: 'Look' } }] },
  cancelled: { ends: ['CANCELLED', 'COMPLETED'], steps: [{ text: 'done', delay_ms: 10_000 }] },
  failing: { ends: ['ERROR'], steps: [{ fail: 'out of order' }] },
} as const;
type Kind = keyof typeof kinds;

const events = ['needs_review', 'completed', 'error', 'cancelled', 'pending', 'executing', 'indeterminate'];

/** A row of the end of a run. */
interface ItemRow {
  id: string;
  kind: Kind | null;
  status: string;
  created_at: Date;
  /** The statuses of its history, oldest first, and how often it began to be in each final one. */
  history: { status: string; at: Date }[];
  deliveries: { id: string; state: string; status: string; created_at: Date }[] | null;
}

const itemRows = `select w.id, w.payload ->> 'kind' as kind, w.status, w.created_at,
  (select json_agg(json_build_object('status', e.to_status, 'at', e.at) order by e.seq) from work_item_events e
    where e.work_item_id = w.id and e.from_status is distinct from e.to_status) as history,
  (select json_agg(json_build_object('id', d.id, 'state', d.state, 'status', d.status, 'created_at', d.created_at)
    order by d.id) from callback_deliveries d where d.work_item_id = w.id) as deliveries
  from work_items w`;

/** The callbacks that arrived, by the id of the delivery. */
type Received = Map<string, { status: string; timestamp: string }[]>;

const final = ['COMPLETED', 'ERROR', 'CANCELLED'];

/** The client of Work Items: made in every kind, continued and cancelled, with a tool server and callbacks. */
export class Items implements Workload {
  readonly #caller: Caller;
  readonly #tools: TestToolServer;
  readonly receiver: CallbackReceiver;
  #loops: Workload[] = [];
  #workers: Promise<void>[] = [];
  #stopped = false;
  #failures = new Map<string, number>();
  /** The agent whose finished Work Items are made old. */
  aging = '';
  /** Work Items that the retention removed. */
  removed = 0;

  private constructor(caller: Caller, tools: TestToolServer, receiver: CallbackReceiver) {
    this.#caller = caller;
    this.#tools = tools;
    this.receiver = receiver;
    // At most twice for each delivery: the third wait is half an hour.
    receiver.respondWith(({ headers }) => {
      const id = String(headers['webhook-id']);
      const failures = this.#failures.get(id) ?? 0;
      if (caller.random() > 0.06 || failures === 2) return 204;
      this.#failures.set(id, failures + 1);
      return 500;
    });
  }

  static async start(caller: Caller, pauseMs: number): Promise<Items> {
    const result = () => 'read';
    const tool = {
      name: 'read',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      result,
    };
    const items = new Items(caller, await startToolServer({ tools: [tool] }), await startCallbackReceiver());
    await items.#begin(pauseMs);
    return items;
  }

  async #begin(pauseMs: number): Promise<void> {
    const caller = this.#caller;
    const api = caller.fixture.api();
    const server = { name: 'Tools', prefix: 't', url: this.#tools.url, default_policy: 'allow' };
    const tools = await must(api.post('/tool-servers', server));
    const callbacks = [{ url: this.receiver.url, events: events.map((name) => `work_item.${name}`) }];
    const agent = async (name: string, fields: object) =>
      String((await must(api.post('/agents', { name, mode: 'worker', ...fields }))).id);
    const settings = { max_attempts: 100, max_concurrency: 20 };
    const careful = await agent('Careful', { callbacks, settings, tool_server_ids: [tools.id] });
    const failing = await agent('Failing', { callbacks, settings: { max_attempts: 2 } });
    const external = await agent('External', externalAgent(this.receiver.url));
    this.aging = await agent('Short-lived', { settings });

    const make = async (agentId: string, kind: Kind | 'external') => {
      const payload = kind === 'external' ? {} : { kind, mock: { steps: kinds[kind].steps } };
      const body = { agent_id: agentId, message: `a ${kind} Work Item`, payload };
      const headers = { 'idempotency-key': randomUUID() };
      const made = await caller.insist((on) => on.post('/work-items', body, { headers }));
      caller.count('items');
      return made?.id as string | undefined;
    };
    this.#loops = [
      forever(1, pauseMs, async () => {
        const kind = pick(caller.random, Object.keys(kinds) as Kind[]);
        const id = await make(kind === 'failing' ? failing : careful, kind);
        if (kind !== 'cancelled' || !id) return;
        await sleep(caller.random() * 6_000);
        await caller.insist((on) => on.post(`/work-items/${id}/cancel`), { also: [412] });
      }),
      forever(1, pauseMs, async () => void (await make(this.aging, 'plain'))),
      forever(1, pauseMs, async () => void (await make(external, 'external'))),
      forever(1, pauseMs, () => this.proceed()),
    ];
    this.#workers = [1, 2].map(() =>
      work(caller.fixture, external, () => this.#stopped, { waitSeconds: 3, holdMs: 4_000 }),
    );
  }

  /** Continues what waits for a person. */
  async proceed(): Promise<void> {
    const caller = this.#caller;
    const waiting = await caller.ask((on) => on.get('/work-items?status=NEEDS_REVIEW&limit=100'));
    for (const { id } of waiting?.records ?? []) {
      await caller.insist((on) => on.post(`/work-items/${id}/continue`), { also: [412] });
      caller.count('reviews');
    }
  }

  /** Makes no more Work Items. External workers go on. */
  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#workers);
    await this.receiver[Symbol.asyncDispose]();
    await this.#tools[Symbol.asyncDispose]();
  }

  /** Checks the finished Work Items of the agent that ages, and makes them old enough for the retention. PostgreSQL only. */
  async age(rows: Rows): Promise<void> {
    const old = `agent_id = '${this.aging}' and finished_at between platform_now() - interval '1 day'
      and platform_now() - interval '1 minute'`;
    const found = await rows<ItemRow>(`${itemRows} where ${old}`);
    for (const row of found) this.#check(row, Number.POSITIVE_INFINITY, new Map());
    const ids = found.map(({ id }) => `'${id}'`).join(', ');
    if (found.length === 0) return;
    await rows(`update work_items set finished_at = finished_at - interval '400 days' where id in (${ids})`);
    this.removed += found.length;
  }

  /** How many Work Items wait for something, next to those of schedules that are about to run. */
  async open(api: Client): Promise<number> {
    const counts = await Promise.all(
      ['EXECUTING', 'NEEDS_REVIEW', 'INDETERMINATE'].map((status) =>
        must(api.get(`/work-items?status=${status}&limit=1`)),
      ),
    );
    return counts.reduce((sum, { total_count }) => sum + Number(total_count), 0);
  }

  /** How many callbacks are not delivered. */
  async undelivered(rows: Rows): Promise<number> {
    const [row] = await rows<{ n: number }>(
      `select count(*)::int as n from callback_deliveries where state <> 'delivered'`,
    );
    return row!.n;
  }

  #check(row: ItemRow, before: number, received: Received): void {
    const say = (text: string) => this.#caller.problem(`Work Item ${row.id}: ${text}`);
    const ends = row.history.filter(({ status }) => final.includes(status));
    if (ends.length === 0 && row.created_at.getTime() > before) return;
    if (ends.length !== 1) say(`it ended ${ends.length} times: ${row.history.map(({ status }) => status)}`);
    const wanted: readonly string[] = row.kind === null ? ['COMPLETED'] : kinds[row.kind].ends;
    if (!wanted.includes(row.status)) say(`it is ${row.status}`);
    for (const { id, state, status } of row.deliveries ?? []) {
      const got = received.get(id);
      if (!got) say(`its callback ${status} is ${state}, and did not arrive`);
      else if (got.some((one) => one.status !== status || one.timestamp !== got[0]!.timestamp))
        say(`its callback ${id} changed between two attempts`);
    }
    const told = (row.deliveries ?? [])
      .map(({ id }) => received.get(id)?.[0])
      .filter((one) => one !== undefined)
      .sort((a, b) => a.timestamp.localeCompare(b.timestamp))
      .map(({ status }) => status);
    // External workers have callbacks for the end alone.
    const history = row.history.map(({ status }) => status);
    const expected = row.kind === null ? history.filter((status) => final.includes(status)) : history;
    if ((row.deliveries ?? []).length > 0 && told.toString() !== expected.toString())
      say(`its history is ${expected}, its callbacks ${told}`);
  }

  /**
   * At the end: every Work Item made before a moment of the database's clock ended once, as its kind says, and its
   * callbacks arrived. Later ones may be open. Returns how many there are.
   */
  async check(rows: Rows, before: number): Promise<number> {
    const received: Received = new Map();
    for (const { headers, body } of this.receiver.requests) {
      const id = String(headers['webhook-id']);
      const one = { status: body.data.status as string, timestamp: body.timestamp as string };
      received.set(id, [...(received.get(id) ?? []), one]);
    }
    const found = await rows<ItemRow>(itemRows);
    for (const row of found) this.#check(row, before, received);
    return found.length;
  }
}
