import { createHmac } from 'node:crypto';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { newId } from '../src/lib/ids.ts';
import { client } from '../tests/harness/http.ts';
import { execute, type Postgres, query, startPostgres } from '../tests/harness/postgres.ts';
import { type PlatformProcess, spawnPlatform } from '../tests/harness/process.ts';
import { until } from '../tests/harness/wait.ts';
import { postKept, signed } from '../tests/harness/webhook-sender.ts';
import { percentile } from './console/client.ts';
import { body, type Figure, ms } from './data/rig.ts';

/**
 * Events of webhooks on PostgreSQL with fsync. The *floor* is the least that a receiver does that loses nothing: a bare
 * HTTP server that checks the same signature and inserts one row with a unique id.
 * `TRIGGERS_STORM` (100,000 events at once), `TRIGGERS_EVENTS` (1,000,000 in the ledger that is read),
 * `TRIGGERS_PARTS=steady,chain,storm,reads`: only these.
 */
const storm = Number(process.env.TRIGGERS_STORM ?? 100_000);
const kept = Number(process.env.TRIGGERS_EVENTS ?? 1_000_000);
const parts = new Set((process.env.TRIGGERS_PARTS ?? 'steady,chain,storm,reads').split(','));

interface Hook {
  id: string;
  agentId: string;
  secret: string;
  port: number;
  path: string;
}

/** The connections of a storm: as few as one sender has, and as many as several have. */
const connections = [64, 256] as const;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const kilobyte = 'x'.repeat(1_000);
const eventBody = (n: number): string => JSON.stringify({ n, text: kilobyte });

const spread = (took: readonly number[]): string =>
  [0.5, 0.99, 1].map((share) => ms(percentile(took, Math.min(share, 0.9999)))).join(', ');

const startTarget = async (
  postgres: Postgres,
  settings: object = {},
): Promise<{ platform: PlatformProcess; url: string; api: ReturnType<typeof client> }> => {
  const url = await postgres.createDatabase();
  const platform = await spawnPlatform({ databaseUrl: url, env: { LOG_LEVEL: 'warn' } });
  const api = client(`${platform.url}/api/v2`, platform.key);
  await body(api.patch('/advanced-settings', { RATE_LIMIT_REQUESTS_PER_SECOND: 0, ...settings }));
  return { platform, url, api };
};

const newHook = async (
  platform: PlatformProcess,
  fields: { agent?: object; trigger?: object } = {},
): Promise<Hook> => {
  const api = client(`${platform.url}/api/v2`, platform.key);
  const made = await body(
    api.post('/agents', {
      name: `Bench ${newId()}`,
      mode: 'worker',
      settings: { max_concurrency: 1_000 },
      ...fields.agent,
    }),
  );
  const trigger = await body(
    api.post(`/agents/${made.id}/triggers`, {
      name: 'bench',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      filter: 'event.body.n >= 0.0',
      mapping: { message: 'Event {{ event.body.n }}' },
      ...fields.trigger,
    }),
  );
  const { port, pathname } = new URL(trigger.url);
  return { id: trigger.id, agentId: made.id, secret: trigger.secret, port: Number(port), path: pathname };
};

const send = async (to: Pick<Hook, 'port' | 'path' | 'secret'>, n: number): Promise<void> => {
  const text = eventBody(n);
  const { status, text: said } = await postKept(agent, to, signed(to.secret, text), text);
  if (status !== 202) throw new Error(`${status} ${said}`);
};

/** Sends `perSecond` events for `seconds`. Resolves to the milliseconds until each was acknowledged. */
const sendSteadily = async (
  to: Pick<Hook, 'port' | 'path' | 'secret'>,
  perSecond: number,
  seconds: number,
): Promise<number[]> => {
  const took: number[] = [];
  const open: Promise<void>[] = [];
  const begun = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = begun + (n * 1_000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    // Counted from when it was due: a sender that is held up does not hide it.
    open.push(send(to, n).then(() => void took.push(performance.now() - due)));
  }
  await Promise.all(open);
  return took;
};

/** A bare receiver of the same webhooks: it checks the signature and inserts a row. */
const startFloor = async (databaseUrl: string) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8 });
  await pool.query('create table events (id text primary key, body text not null)');
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  const key = Buffer.alloc(32, 5);
  const server = createServer(async (received, response) => {
    let text = '';
    for await (const part of received.setEncoding('utf8')) text += part;
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = received.headers;
    const right = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64');
    const ok = signature === `v1,${right}`;
    if (ok) await pool.query('insert into events values ($1, $2) on conflict do nothing', [id, text]);
    response.writeHead(ok ? 202 : 401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: { port: (server.address() as AddressInfo).port, path: '/', secret },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await pool.end();
    },
  };
};

/** 500 events a second to an agent whose Work Items external workers carry out, next to the floor. */
const steady = async (postgres: Postgres): Promise<Figure[]> => {
  const floor = await startFloor(await postgres.createDatabase());
  const { platform } = await startTarget(postgres);
  await using _ = platform;
  const hook = await newHook(platform, { agent: { execution: 'external' } });
  await sendSteadily(hook, 200, 3);
  await sendSteadily(floor.target, 200, 3);
  const here: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 3; round++) {
    here.push(...(await sendSteadily(hook, 500, 10)));
    bare.push(...(await sendSteadily(floor.target, 500, 10)));
  }
  await floor.stop();
  return [
    {
      what: 'acknowledged at 500 a second, 1 KB: median, p99, most',
      goal: 'p99 20 ms',
      here: spread(here),
      bare: spread(bare),
    },
  ];
};

/** 100 events a second to an agent of the platform, whose completed Work Items start those of another agent. */
const chain = async (postgres: Postgres): Promise<Figure[]> => {
  const { platform, url, api } = await startTarget(postgres, { MAX_CONCURRENT_WORK_ITEMS: 128 });
  await using _ = platform;
  const hook = await newHook(platform, {
    trigger: { mapping: { payload: '{"mock": {"steps": [{"text": "done"}]}}' } },
  });
  const next = await body(api.post('/agents', { name: 'Next', mode: 'worker', execution: 'external' }));
  const watching = await body(
    api.post(`/agents/${next.id}/triggers`, {
      name: 'chain',
      kind: 'work_item',
      settings: { agent_id: hook.agentId, statuses: ['COMPLETED'] },
    }),
  );
  const sent = 2_000;
  const took = await sendSteadily(hook, 100, sent / 100);
  const count = async (): Promise<number> => {
    const rows = await query<{ n: number }>(
      url,
      `select count(*)::int as n from work_items where trigger_id = '${watching.id}'`,
    );
    return rows[0]!.n;
  };
  await until(async () => (await count()) === sent, 120_000, 200);
  const claimed = await query<{ took: number }>(
    url,
    `select extract(epoch from c.at - e.at)::float8 * 1000 as took from trigger_events e
      join work_items w on w.occurrence_id = e.id join work_item_events c on c.work_item_id = w.id and c.action = 'claim'
      where e.trigger_id = '${hook.id}'`,
  );
  const followed = await query<{ took: number }>(
    url,
    `select extract(epoch from w.created_at - e.at)::float8 * 1000 as took from trigger_events e
      join work_items w on w.occurrence_id = e.id where e.trigger_id = '${watching.id}'`,
  );
  const of = (rows: readonly { took: number }[]) => spread(rows.map(({ took: one }) => one));
  return [
    { what: 'the same at 100 a second, with their runs', goal: '', here: spread(took), bare: '' },
    { what: 'from the event to the claim of its Work Item', goal: 'p99 500 ms', here: of(claimed), bare: '' },
    {
      what: 'from a completed Work Item to the one that its event starts',
      goal: 'p99 1 s',
      here: of(followed),
      bare: '',
    },
  ];
};

/** All events at once, while a schedule of another agent fires each minute. */
const flood = async (postgres: Postgres): Promise<Figure[]> => {
  const floor = await startFloor(await postgres.createDatabase());
  const { platform, url, api } = await startTarget(postgres);
  await using _ = platform;
  const hook = await newHook(platform, { agent: { execution: 'external' } });
  const other = await body(api.post('/agents', { name: 'Other', mode: 'worker', execution: 'external' }));
  const schedule = await body(
    api.post(`/agents/${other.id}/schedules`, { cron_expression: '* * * * *', timezone: 'UTC' }),
  );
  let sent = 0;
  const all = async (
    to: Pick<Hook, 'port' | 'path' | 'secret'>,
    events: number,
    senders: number,
  ): Promise<number> => {
    const begun = performance.now();
    let left = events;
    const sender = async () => {
      while (left-- > 0) await send(to, sent++);
    };
    await Promise.all(Array.from({ length: senders }, sender));
    return (events * 1_000) / (performance.now() - begun);
  };
  await all(hook, 2_000, 64);
  await all(floor.target, 2_000, 64);
  // A minute begins while it rages.
  await sleep(Math.max(0, 60_000 - (Date.now() % 60_000) - 8_000));
  const half = storm / 2;
  const figures: Figure[] = [];
  for (const senders of connections) {
    const rate = await all(hook, half, senders);
    const bare = await all(floor.target, half, senders);
    figures.push({
      what: `a storm of ${half.toLocaleString('en')} events, ${senders} connections`,
      goal: '3,000/s',
      here: `${Math.round(rate)}/s`,
      bare: `${Math.round(bare)}/s`,
    });
  }
  const late = await query<{ late: number }>(
    url,
    `select extract(epoch from at - scheduled_for)::float8 * 1000 as late from occurrences where schedule_id = '${schedule.id}'`,
  );
  const [counted] = await query<{ n: number }>(
    url,
    `select count(*)::int as n from work_items where trigger_id = '${hook.id}'`,
  );
  if (counted!.n !== storm + 2_000) throw new Error(`${counted!.n} Work Items`);
  await floor.stop();
  return [
    ...figures,
    {
      what: `the latest of ${late.length} firings of another schedule in the meantime`,
      goal: '1 s',
      here: ms(Math.max(...late.map(({ late: one }) => one))),
      bare: '',
    },
  ];
};

/** Reads of a ledger with many events of ten triggers and a month. */
const reads = async (postgres: Postgres): Promise<Figure[]> => {
  const { platform, url } = await startTarget(postgres);
  await using _ = platform;
  const hooks: Hook[] = [];
  for (let n = 0; n < 10; n++) hooks.push(await newHook(platform));
  const ids = hooks.map(({ id }) => `'${id}'`).join(', ');
  await execute(
    url,
    `insert into trigger_events (id, trigger_id, identity, event_id, type, at, outcome, last_delivery_at, body_hash, revision)
      select gen_random_uuid(), (array[${ids}]::uuid[])[1 + n % 10], sha256(n::text::bytea), 'event-' || n, 'order', t.at,
        case n % 4 when 0 then 'fired' when 1 then 'filtered' when 2 then 'duplicate' else 'invalid' end, t.at, sha256('x'), 1
      from generate_series(1, ${kept}) n cross join lateral (select now() - make_interval(secs => n * (30 * 86400.0 / ${kept})) as at) t;
    insert into trigger_event_counts (trigger_id, minute, replica_id, outcome, count)
      select trigger_id, date_trunc('minute', at), '0000000a-0000-7000-8000-000000000001', outcome, count(*)
      from trigger_events group by 1, 2, 4;`,
  );
  await execute(url, 'vacuum analyze');
  const app = client(`${platform.url}/app/api`, platform.key);
  const measure = async (what: string, goal: string, path: () => string, pauseMs = 0): Promise<Figure> => {
    const took: number[] = [];
    for (let i = 0; i < 31; i++) {
      await sleep(pauseMs);
      const begun = performance.now();
      await body(app.get(path()));
      if (i > 0) took.push(performance.now() - begun);
    }
    return {
      what,
      goal,
      here: `p50 ${ms(percentile(took, 0.5))}, p95 ${ms(percentile(took, 0.95))}`,
      bare: '',
    };
  };
  const one = `/agents/${hooks[3]!.agentId}/triggers/${hooks[3]!.id}`;
  let n = 3;
  const some = () => {
    n += 10 * 997;
    return n % kept;
  };
  const hour = 3_600_000;
  return [
    await measure('the control: GET /agents?limit=1', '', () => '/agents?limit=1'),
    await measure('why an event started nothing', '100 ms', () => `${one}/explain?event_id=event-${some()}`),
    await measure(
      'what happened at a time',
      '100 ms',
      () => `${one}/explain?at=${new Date(Date.now() - some()).toISOString()}`,
    ),
    await measure('an event that never came', '100 ms', () => `${one}/explain?event_id=none-${some()}`),
    await measure('the newest events', '50 ms', () => `${one}/events`),
    await measure(
      'invalid events of a day',
      '50 ms',
      () => `${one}/events?outcome=invalid&to=${new Date(Date.now() - 24 * hour).toISOString()}`,
    ),
    await measure('the list of triggers', '50 ms', () => '/triggers'),
    // It is kept for two seconds.
    await measure('the Overview', '30 ms', () => '/overview', 2_100),
  ];
};

export const run = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  const all = { steady, chain, storm: flood, reads };
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(all)) {
    if (!parts.has(name)) continue;
    const found = await measure(postgres);
    figures.push(...found);
    for (const { what, here, bare } of found) console.log(`${what}: ${here}${bare && ` (floor ${bare})`}`);
  }
  console.table(figures);
  console.log(`Load of the machine: ${loadavg()[0]!.toFixed(1)}.`);
};
