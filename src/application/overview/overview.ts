import { type Database, type Executor, sql } from '../../database/index.ts';
import { findScheduling } from '../../replicas/index.ts';
import type { Settings } from '../../settings/index.ts';
import { auditAttention, keyAttention } from './attention/access.ts';
import { type Attention, sorted } from './attention/attention.ts';
import { type IntegrationState, integrationAttention, readIntegrations } from './attention/integrations.ts';
import { type RoleState, replicaAttention } from './attention/replicas.ts';
import { scheduleAttention } from './attention/schedules.ts';
import { workItemAttention } from './attention/work-items.ts';
import { Numbers } from './numbers.ts';
import { findSetup, type Setup } from './numbers-store.ts';

/** What a caller may see of the Overview. */
export interface Permitted {
  workItems: boolean;
  integrations: boolean;
  keys: boolean;
  audit: boolean;
}

const hour = 3_600_000;
/** It is computed at most once in this time for everyone who may see the same. */
const freshForMs = 2_000;

const findRoles = async (executor: Executor): Promise<(RoleState & { replicas: number })[]> => {
  const { rows } = await sql<RoleState & { replicas: number }>`
    select role, count(*) filter (where alive)::int as replicas, bool_or(alive) as alive, max(seen_at) as last_at
    from (select unnest(roles) as role, seen_at,
      stopped_at is null and seen_at > platform_now() - interval '15 seconds' as alive from replicas) seen
    group by role`.execute(executor);
  return rows;
};

export interface Overview {
  now: Date;
  attention: Attention[];
  work_items: (Awaited<ReturnType<Numbers['workItems']>> & { slots: number }) | null;
  schedules: Awaited<ReturnType<Numbers['schedules']>>;
  integrations: IntegrationState[] | null;
  spans: (Awaited<ReturnType<Numbers['spans']>> & { queued: number }) | null;
  setup: Setup;
}

/** Computes the Overview, once for all who ask at the same time. */
export class OverviewReader {
  readonly #db: Database;
  readonly #settings: () => Settings;
  readonly #numbers = new Numbers();
  readonly #computed = new Map<string, { at: number; overview: Promise<Overview> }>();

  /** `clock` counts milliseconds; no one sets it. */
  readonly #clock: () => number;

  constructor(db: Database, settings: () => Settings, clock = () => performance.now()) {
    this.#db = db;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Resolves to the Overview of the last `hours`, as it was at most two seconds ago. */
  read(permitted: Permitted, hours: number): Promise<Overview> {
    const key = JSON.stringify([permitted, hours]);
    const now = this.#clock();
    const known = this.#computed.get(key);
    if (known && now - known.at < freshForMs) return known.overview;
    for (const [old, { at }] of this.#computed) if (now - at >= freshForMs) this.#computed.delete(old);
    const overview = this.#compute(permitted, hours);
    this.#computed.set(key, { at: now, overview });
    const forget = () => this.#computed.delete(key);
    // A failure is not kept. Nor is an empty workspace: who has just made its first agent would be shown none.
    overview.then(({ setup }) => setup.agent || forget(), forget);
    return overview;
  }

  #compute(permitted: Permitted, hours: number): Promise<Overview> {
    return this.#db.run(async (executor) => {
      const [scheduling, roles] = await Promise.all([findScheduling(executor), findRoles(executor)]);
      const now = scheduling.now.getTime();
      const begin = now - hours * hour;
      const from = new Date(begin);
      const numbers = this.#numbers;
      const workers = roles.find(({ role }) => role === 'worker');
      const slots = (workers?.replicas ?? 0) * this.#settings().MAX_CONCURRENT_WORK_ITEMS;

      const readWorkItems = async () => {
        const counts = await numbers.workItems(executor, begin, now);
        const facts = { alive: workers?.alive ?? false, executing: counts.by_status.EXECUTING, slots };
        return {
          attention: await workItemAttention(executor, facts, from, now),
          work_items: { ...counts, slots },
        };
      };
      const readOthers = async () => {
        const integrations = permitted.integrations ? await readIntegrations(executor, now) : null;
        return {
          attention: [
            ...(integrations ? integrationAttention(integrations, from, now) : []),
            ...(permitted.audit ? await auditAttention(executor, now) : []),
            ...(permitted.keys ? await keyAttention(executor, now) : []),
          ],
          integrations,
          spans: integrations && {
            ...(await numbers.spans(executor, begin, now)),
            queued: integrations.reduce((sum, { queued }) => sum + queued, 0),
          },
          setup: await findSetup(executor),
        };
      };
      // Side by side, each on a connection of its own: on PostgreSQL it takes as long as the longest.
      const [ofSchedules, schedules, items, { attention, ...others }] = await Promise.all([
        scheduleAttention(executor, scheduling, from),
        numbers.schedules(executor, begin, now),
        permitted.workItems ? readWorkItems() : null,
        readOthers(),
      ]);
      return {
        now: scheduling.now,
        attention: sorted([
          ...replicaAttention(roles, scheduling),
          ...ofSchedules,
          ...(items?.attention ?? []),
          ...attention,
        ]),
        work_items: items?.work_items ?? null,
        schedules,
        ...others,
      };
    });
  }
}
