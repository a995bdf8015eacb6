import { loadavg } from 'node:os';
import { type Database, json, migrate, openPostgres, sql } from '../src/database/index.ts';
import { newId } from '../src/lib/ids.ts';
import { silentLogger } from '../src/lib/log.ts';
import { workItemCalls } from '../src/work-items/index.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { percentile, seedAgents, seedItems } from './runtime/items.ts';

/** The cost of pins: a claim that gives Work Items their version, next to one of Work Items that have it. */

const rounds = 600;
const limit = 8;
const waiting = 20_000;

/** Kinds of claims, in turn. `pinned`: the Work Items have a version already, so that none is looked up. */
const variants = ['pinned', 'published', 'canary'] as const;
type Variant = (typeof variants)[number];

const prepare = (db: Database, variant: Variant): Promise<void> =>
  db.tx(async (tx) => {
    const ids = sql`select id from work_items where status = 'PENDING' order by created_at, id limit ${4 * limit}`;
    const version = variant === 'pinned' ? sql`1` : sql`null`;
    await sql`update work_items set agent_version = ${version} where id in (${ids})`.execute(tx);
    const canary = variant === 'canary' ? json({ id: newId(), version: 1, percent: 10 }) : null;
    await sql`update agents set canary = ${canary}::jsonb`.execute(tx);
  });

/** Milliseconds of one claim with its commit. */
const timeClaim = async (db: Database, variant: Variant): Promise<number> => {
  await prepare(db, variant);
  const began = performance.now();
  const claimed = await db.tx((tx) => workItemCalls.claim(tx, { owner: 'bench', limit, leaseSeconds: 30 }));
  const took = performance.now() - began;
  if (claimed.length !== limit) throw new Error(`${claimed.length} of ${limit} Work Items were claimed`);
  await db.tx((tx) =>
    sql`update work_items set status = 'PENDING', agent_version = null, lease_expires_at = null, lease_owner = null
      where status = 'EXECUTING' and lease_owner = 'bench'`.execute(tx),
  );
  return took;
};

export const run = async (): Promise<void> => {
  await using postgres = await startPostgres();
  const db = await openPostgres(await postgres.createDatabase(), silentLogger, 4);
  await migrate(db, silentLogger);
  await seedItems(db, await seedAgents(db, 100), waiting);
  await db.run((executor) => sql`vacuum analyze work_items`.execute(executor));
  const took = Object.fromEntries(variants.map((variant) => [variant, [] as number[]])) as Record<
    Variant,
    number[]
  >;
  for (let n = 0; n < rounds; n++)
    for (const variant of variants) took[variant].push(await timeClaim(db, variant));
  await db.close();
  const base = percentile(took.pinned, 0.5);
  console.log(
    `A claim of ${limit} of ${waiting} Work Items with its commit, ${rounds} times each, in turn (goal: 1.03 ×)`,
  );
  console.table(
    variants.map((variant) => ({
      'Work Items': {
        pinned: 'with a version: nothing is looked up',
        published: 'without: the published version',
        canary: 'without: a canary of 10 %',
      }[variant],
      'fastest ms': Math.min(...took[variant]).toFixed(2),
      'median ms': percentile(took[variant], 0.5).toFixed(2),
      'p90 ms': percentile(took[variant], 0.9).toFixed(2),
      'median, times the first': (percentile(took[variant], 0.5) / base).toFixed(3),
      load: loadavg()[0]!.toFixed(1),
    })),
  );
};
