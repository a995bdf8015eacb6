import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { roleRules } from '../src/access/people/role-rules.ts';
import { applyPolicy, type PeopleParts, roleOf } from '../src/access/people/roles.ts';
import {
  advisoryLock,
  type Database,
  migrate,
  openEmbedded,
  openPostgres,
  sql,
} from '../src/database/index.ts';
import { silentLogger } from '../src/lib/log.ts';
import { systemActor } from '../src/lib/principal.ts';
import { startPostgres } from '../tests/harness/postgres.ts';

const people = Number(process.env.PEOPLE ?? 10_000);
const mappings = Number(process.env.MAPPINGS ?? 500);
/** Groups of each person. Their ids make up most of the 2 KB of claims. */
const groups = 40;
const rounds = 5;

const parts: PeopleParts = {
  endSessions: async () => 0,
  endMadeKeys: async () => [],
  emailVerifiedClaim: 'email_verified',
};

/** People in 40 of 2,000 groups each, and mappings of 490 groups, of domains and of nested claims. */
const seed = async (db: Database): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`insert into role_mappings (id, claim, value, role, priority)
      select gen_random_uuid(),
        case when n <= 5 then '/realm_access/roles' when n <= 10 then 'email' else 'groups' end,
        case when n between 6 and 10 then '@domain' || n || '.example' else md5('group ' || n) end,
        (array['member', 'builder', 'admin'])[1 + n % 3], n % 7
      from generate_series(1, ${mappings}::int) n`.execute(tx);
    await sql`insert into users (id, issuer, subject, email, email_verified, name, role, role_source, claims)
      select gen_random_uuid(), 'https://id.example', 'subject ' || n, 'p' || n || '@domain8.example', true, 'Person ' || n,
        null, 'default', jsonb_build_object('sub', 'subject ' || n, 'name', 'Person ' || n, 'email_verified', true,
          'email', 'p' || n || '@domain8.example', 'realm_access', jsonb_build_object('roles', jsonb_build_array('user')),
          'groups', (select jsonb_agg(md5('group ' || (n * 37 + g * 53) % 2000)) from generate_series(1, ${groups}::int) g))
      from generate_series(1, ${people}::int) n`.execute(tx);
  });
  await db.run((executor) => sql`analyze`.execute(executor));
};

/** Evaluates everyone in one transaction, as a change of mappings does. */
const evaluate = async (db: Database): Promise<{ milliseconds: number; changed: number }> => {
  const begun = performance.now();
  const changed = await db.tx(async (tx) => {
    await advisoryLock(tx, 'access');
    return applyPolicy(tx, systemActor, parts, 'benchmark');
  });
  return { milliseconds: performance.now() - begun, changed };
};

/** Reads one person again and again while `work` runs. Returns the slowest read in milliseconds. */
const slowestRead = async (db: Database, work: Promise<unknown>): Promise<number> => {
  let slowest = 0;
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  while (!done) {
    const begun = performance.now();
    await db.run((executor) => sql`select name, role from users limit 1`.execute(executor));
    slowest = Math.max(slowest, performance.now() - begun);
    await sleep(2);
  }
  await finished;
  return slowest;
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const measure = async (name: string, db: Database) => {
  await seed(db);
  const rows = [];
  for (const [what, before] of [
    ['everyone changes', sql`update users set role = null, role_source = 'default'`],
    ['no one changes', null],
  ] as const) {
    const took: number[] = [];
    const reads: number[] = [];
    let changed = 0;
    for (let round = 0; round < rounds; round++) {
      if (before) await db.run((executor) => before.execute(executor));
      const work = evaluate(db).then((result) => {
        took.push(result.milliseconds);
        changed = result.changed;
      });
      reads.push(await slowestRead(db, work));
    }
    rows.push({
      database: name,
      what,
      people,
      mappings,
      changed,
      'median ms': Math.round(median(took)),
      'slowest ms': Math.round(Math.max(...took)),
      'slowest read ms': Math.round(Math.max(...reads)),
    });
  }
  return rows;
};

/** The engine alone: everyone's role from claims in memory. */
const engineMs = async (db: Database): Promise<number> => {
  const { rows: stored } = await db.run((executor) =>
    sql<{
      id: string;
      claim: string;
      value: string;
      role: 'member';
      priority: number;
    }>`select * from role_mappings`.execute(executor),
  );
  const { rows } = await db.run((executor) =>
    sql<{ claims: Record<string, unknown> }>`select claims from users`.execute(executor),
  );
  const begun = performance.now();
  const policy = { rules: roleRules(stored, 'email_verified'), defaultRole: null };
  for (const { claims } of rows) roleOf(policy, claims);
  return performance.now() - begun;
};

/**
 * A change of mappings: everyone is read, evaluated and, where the role changed, written with an audit entry, in one
 * transaction. Reads go on in the meantime; the embedded database has one connection, so there they wait.
 */
export const run = async (): Promise<void> => {
  await using server = await startPostgres({ durable: true });
  const postgres = await openPostgres(await server.createDatabase(), silentLogger);
  await migrate(postgres, silentLogger);
  const rows = await measure('PostgreSQL', postgres);
  const engine = await engineMs(postgres);
  await postgres.close();
  const folder = await mkdtemp(join(tmpdir(), 'ap-bench-'));
  const embedded = await openEmbedded(folder, silentLogger);
  await migrate(embedded, silentLogger);
  rows.push(...(await measure('embedded', embedded)));
  await embedded.close();
  await rm(folder, { recursive: true, force: true });
  console.table(rows);
  console.log(`The engine alone: ${Math.round(engine)} ms for ${people} people.`);
};

if (import.meta.main) await run();
