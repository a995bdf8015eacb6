import { zoneRulesVersion } from '@agent-platform/cron';
import pg from 'pg';
import { Pool } from 'undici';
import { agentCalls } from '../src/agents/index.ts';
import { openPostgres } from '../src/database/index.ts';
import { newId } from '../src/lib/ids.ts';
import { silentLogger } from '../src/lib/log.ts';
import { findScheduleOfAgent, listSchedules } from '../src/schedules/store.ts';

import { listWorkItems } from '../src/work-items/store.ts';
import { insertAgents } from '../tests/harness/agents.ts';

import { client } from '../tests/harness/http.ts';
import { type Postgres, startPostgres } from '../tests/harness/postgres.ts';
import { type PlatformProcess, spawnPlatform } from '../tests/harness/process.ts';
import { interceptStatements } from '../tests/harness/statements.ts';
import { cpuOf } from './telemetry/target.ts';

/** Requests in flight at once; seconds of one measurement, and how many measurements of each server, alternating. */
const connections = 16;
const whole = {
  seconds: Number(process.env.API_SECONDS ?? 4),
  rounds: 3,
  /** Before that, of each server: in the first 10 s of an operation its code is still being compiled. */
  warmSeconds: 10,
};

interface Statement {
  text: string;
  values: unknown[];
}

/** One operation of the API and the statements that it runs, in order. */
export interface Operation {
  name: string;
  method: 'GET' | 'POST';
  /** Requested in rotation. */
  paths: string[];
  body?: string;
  statements: Statement[];
  /** The value in `statements` that must be a different id each time. */
  newId?: string;
}

/** The statements that `fn` sends, as the driver gets them, without BEGIN and COMMIT. */
const statementsOf = async (fn: () => Promise<unknown>): Promise<Statement[]> => {
  const seen: Statement[] = [];
  using _intercepted = interceptStatements((statement, send) => {
    const { text, values } = statement;
    if (values) seen.push({ text, values });
    return send(statement);
  });
  await fn();
  return seen;
};

/**
 * Creates agents with 20 schedules each, and 2,000 Work Items of the first. Returns the agents' ids and one schedule's.
 */
const seed = async (api: ReturnType<typeof client>, url: string) => {
  const settings = { RATE_LIMIT_REQUESTS_PER_SECOND: 0, MAX_SCHEDULES_PER_AGENT: 100_000 };
  if ((await api.patch('/advanced-settings', settings)).status !== 200) throw new Error('no settings');
  const agents = Array.from({ length: 100 }, newId);
  const schedules = agents.flatMap(() => Array.from({ length: 20 }, newId));
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await insertAgents(db, agents);
  await db.query(
    `insert into schedules (id, agent_id, cron_expression, timezone, message, payload, next_run_at, zone_rules)
      select s.id, ($2::uuid[])[1 + (s.n - 1) / 20], '0 0 1 1 *', 'UTC', 'Go through the night’s orders.',
        '{"shop": 7}', '2100-01-01', $3
      from unnest($1::uuid[]) with ordinality as s(id, n)`,
    [schedules, agents, zoneRulesVersion],
  );
  await db.query(
    `insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id)
      select id, $2, 'Go through the night’s orders.', '{"shop": 7}', 'COMPLETED', 'bench', id from unnest($1::uuid[]) as id`,
    [Array.from({ length: 2_000 }, newId), agents[0]],
  );
  await db.query('analyze');
  await db.end();
  return { agents, schedule: schedules[0]! };
};

const operationsOn = async (url: string, agents: string[], schedule: string): Promise<Operation[]> => {
  const db = await openPostgres(url, silentLogger);
  const agent = agents[0]!;
  const definition = {
    cron_expression: '0 9 * * MON-FRI',
    timezone: 'Europe/Berlin',
    catch_up: true,
    overlap: 'queue',
    work_item_name: null,
    message: 'Go through the night’s orders.',
    payload: { shop: 7 },
    metadata: {},
  } as const;
  // The schedule's row alone: here its first version, the audit entry and the notification come with it.
  const insertion = await statementsOf(() =>
    db.run((executor) =>
      executor
        .insertInto('schedules')
        .values({
          id: newId(),
          agent_id: agents[1]!,
          ...definition,
          payload: JSON.stringify(definition.payload),
          metadata: JSON.stringify(definition.metadata),
          next_run_at: new Date('2100-01-01'),
          zone_rules: zoneRulesVersion,
        })
        .returningAll()
        .execute(),
    ),
  );
  const read = (fn: Parameters<typeof db.run>[0]) => statementsOf(() => db.run(fn));
  const operations: Operation[] = [
    {
      name: 'read-schedule',
      method: 'GET',
      paths: [`/agents/${agent}/schedules/${schedule}`],
      statements: await read((r) => findScheduleOfAgent(r, agent, schedule)),
    },
    {
      name: 'list-schedules',
      method: 'GET',
      paths: [`/agents/${agent}/schedules`],
      statements: [
        ...(await read((r) => agentCalls.get(r, agent))),
        ...(await read((r) => listSchedules(r, agent))),
      ],
    },
    {
      name: 'list-work-items',
      method: 'GET',
      paths: [`/work-items?agent_id=${agent}&limit=50`],
      statements: await read((r) => listWorkItems(r, { agent_id: agent }, { limit: 50, offset: 0 })),
    },
    {
      name: 'create-schedule',
      method: 'POST',
      // Of many agents: creates for one agent wait for each other, so that it cannot exceed its number of schedules.
      paths: agents.slice(1).map((id) => `/agents/${id}/schedules`),
      body: JSON.stringify(definition),
      statements: insertion,
      newId: insertion.at(-1)!.values[0] as string,
    },
  ];
  await db.close();
  return operations;
};

/** The requests of one side of a comparison. */
interface Side {
  origin: string;
  pid: number;
  method: 'GET' | 'POST';
  paths: string[];
  body?: string | undefined;
  /** Who sends them. */
  credential: Record<string, string>;
}

/** What a side did: requests a second that got 200, and the CPU of its process for each, in µs (null: not on Linux). */
interface Measured {
  rate: number;
  cpu: number | null;
}

const cpuSoFar = (pid: number): number | null => (process.platform === 'linux' ? cpuOf(pid).all : null);

/** Sends requests for `forSeconds`. */
const measure = async (side: Side, forSeconds: number): Promise<Measured> => {
  const { origin, pid, method, paths, body, credential } = side;
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const headers = { ...credential, 'content-type': 'application/json' };
  const until = performance.now() + forSeconds * 1_000;
  let sent = 0;
  let succeeded = 0;
  const begun = performance.now();
  const cpuBefore = cpuSoFar(pid);
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        const path = paths[sent++ % paths.length]!;
        const response = await pool.request({ method, path, body: body ?? null, headers });
        await response.body.dump();
        if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode}`);
        succeeded++;
      }
    }),
  );
  const took = performance.now() - begun;
  const cpu = cpuBefore === null ? null : (cpuSoFar(pid)! - cpuBefore) / succeeded;
  await pool.close();
  return { rate: succeeded / (took / 1_000), cpu };
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** The medians of the sides, which alternate. */
export const compare = async (
  sides: Side[],
  { warmSeconds, seconds, rounds } = whole,
): Promise<Measured[]> => {
  for (const side of sides) await measure(side, warmSeconds);
  const measured = sides.map((): Measured[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, side] of sides.entries()) measured[i]!.push(await measure(side, seconds));
  }
  return measured.map((all) => ({
    rate: median(all.map((one) => one.rate)),
    cpu: all[0]!.cpu === null ? null : median(all.map((one) => one.cpu!)),
  }));
};

const rowOf = (operation: string, statements: number, here: Measured, there: Measured) => ({
  operation,
  statements,
  'here/s': Math.round(here.rate),
  'bare Fastify/s': Math.round(there.rate),
  'here / bare': `${Math.round((100 * here.rate) / there.rate)} %`,
  'CPU µs, here': here.cpu && Math.round(here.cpu),
  'CPU µs, bare': there.cpu && Math.round(there.cpu),
});

/** An API key in the table, and the cookie of a session that was made with it. */
export const credentialsOf = async (platform: { url: string; key: string }) => {
  const made = await client(`${platform.url}/api/v2`, platform.key).post('/api-keys', {
    name: 'bench',
    role: 'member',
  });
  const key = made.body.value as string;
  const session = await client(`${platform.url}/app/api`).post('/sessions', { api_key: key });
  if (session.status !== 200) throw new Error(`no session: ${session.text}`);
  const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!;
  return {
    key: { authorization: `Bearer ${key}` },
    cookie: { cookie, 'sec-fetch-site': 'same-origin' },
  };
};

/** The platform and bare Fastify, with the same operation. */
export const sidesOf = (
  { name, method, paths, body }: Operation,
  platform: PlatformProcess,
  bare: PlatformProcess,
): [Side, Side] => {
  const credential = { authorization: `Bearer ${platform.key}` };
  const { url: origin, pid } = platform;
  return [
    { origin, pid, method, paths: paths.map((path) => `/api/v2${path}`), body, credential },
    { origin: bare.url, pid: bare.pid, method, paths: [`/${name}`], body, credential },
  ];
};

/** A platform with agents and schedules, bare Fastify on the same database, and the operations of both. */
export const startSides = async (server: Postgres) => {
  const databaseUrl = await server.createDatabase();
  const platform = await spawnPlatform({ databaseUrl });
  const { agents, schedule } = await seed(client(`${platform.url}/api/v2`, platform.key), databaseUrl);
  const operations = await operationsOn(databaseUrl, agents, schedule);
  const bare = await spawnPlatform({
    program: 'bench/api/bare.ts',
    databaseUrl,
    env: { OPERATIONS: JSON.stringify(operations) },
  });
  const stop = async (): Promise<void> => {
    await bare.stop();
    await platform.stop();
  };
  return { platform, bare, operations, [Symbol.asyncDispose]: stop };
};

/**
 * Operations of the API on a real platform process, compared with bare Fastify that runs the same prepared statements
 * on the same PostgreSQL. The two alternate; one client on the same machine measures both. `API_SECONDS` is the length
 * of each measurement.
 */
export const run = async (): Promise<void> => {
  await using server = await startPostgres({ durable: true });
  await using rig = await startSides(server);
  const { platform, bare, operations } = rig;
  const rows = [];
  for (const operation of operations) {
    const [here, there] = await compare(sidesOf(operation, platform, bare));
    rows.push(rowOf(operation.name, operation.statements.length, here!, there!));
  }
  // The credentials take turns, so that both meet the same machine.
  const [read] = operations;
  const [ours, theirs] = sidesOf(read!, platform, bare);
  const credentials = await credentialsOf(platform);
  const [byKey, byCookie, there] = await compare([
    { ...ours, credential: credentials.key },
    { ...ours, credential: credentials.cookie },
    theirs,
  ]);
  rows.push(rowOf(`${read!.name} by key`, read!.statements.length, byKey!, there!));
  rows.push(rowOf(`${read!.name} by cookie`, read!.statements.length, byCookie!, there!));
  console.table(rows);
};

if (import.meta.main) await run();
