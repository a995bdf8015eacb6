import type { Access } from '../../access/index.ts';
import type { Agents } from '../../agents/index.ts';
import type { Alerts } from '../../alerts/index.ts';
import type { Audit } from '../../audit/index.ts';
import type { Budgets } from '../../budgets/index.ts';
import type { Channels } from '../../channels/index.ts';
import type { Charges } from '../../charges/index.ts';
import type { Database } from '../../database/index.ts';
import { type Attention, sorted } from '../../lib/attention.ts';
import type { Observability } from '../../observability/index.ts';
import { findScheduling, type Replicas } from '../../replicas/index.ts';
import type { Schedules } from '../../schedules/index.ts';
import type { Settings } from '../../settings/index.ts';
import type { Triggers } from '../../triggers/index.ts';
import type { WorkItems } from '../../work-items/index.ts';
import { findSetup, type Setup } from './setup-store.ts';

export interface OverviewParts {
  schedules: Schedules['overview'];
  triggers: Triggers['overview'];
  workItems: WorkItems['overview'];
  integrations: Observability['overview'];
  replicas: Replicas['overview'];
  keyAttention: Access['keyAttention'];
  auditAttention: Audit['attention'];
  agentAttention: Agents['attention'];
  costs: Charges['overview'];
  budgetAttention: Budgets['attention'];
  alertAttention: Alerts['attention'];
  channelAttention: Channels['attention'];
}

/** Parts of the Overview that a caller may see. */
export interface Permitted {
  triggers: boolean;
  workItems: boolean;
  agents: boolean;
  integrations: boolean;
  keys: boolean;
  audit: boolean;
  costs: boolean;
  alerts: boolean;
  channels: boolean;
  /** Budgets of persons, and alerts about them. */
  budgetsOfPeople: boolean;
}

const hour = 3_600_000;
/** Time in which the Overview is computed at most once for everyone who may see the same. */
const freshForMs = 2_000;

export interface Overview {
  now: Date;
  attention: Attention[];
  work_items: (Awaited<ReturnType<OverviewParts['workItems']['numbers']['read']>> & { slots: number }) | null;
  schedules: Awaited<ReturnType<OverviewParts['schedules']['numbers']['read']>>;
  triggers: Awaited<ReturnType<OverviewParts['triggers']['numbers']['read']>> | null;
  integrations: Awaited<ReturnType<OverviewParts['integrations']['read']>> | null;
  spans: (Awaited<ReturnType<OverviewParts['integrations']['delivered']>> & { queued: number }) | null;
  costs: Awaited<ReturnType<OverviewParts['costs']['spent']>> | null;
  setup: Setup;
}

/** Computes the Overview, once for all who ask at the same time. */
export class OverviewReader {
  readonly #db: Database;
  readonly #settings: () => Settings;
  readonly #parts: OverviewParts;
  readonly #computed = new Map<string, { at: number; overview: Promise<Overview> }>();

  /** `clock` counts milliseconds; no one sets it. */
  readonly #clock: () => number;

  constructor(db: Database, settings: () => Settings, parts: OverviewParts, clock = () => performance.now()) {
    this.#db = db;
    this.#settings = settings;
    this.#parts = parts;
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
      const {
        schedules,
        triggers,
        workItems,
        integrations,
        replicas,
        keyAttention,
        auditAttention,
        agentAttention,
        costs,
        budgetAttention,
        alertAttention,
        channelAttention,
      } = this.#parts;
      const [scheduling, roles] = await Promise.all([findScheduling(executor), replicas.roles(executor)]);
      const now = scheduling.now.getTime();
      const begin = now - hours * hour;
      const from = new Date(begin);
      const workers = roles.find(({ role }) => role === 'worker');
      const slots = (workers?.replicas ?? 0) * this.#settings().MAX_CONCURRENT_WORK_ITEMS;

      const readWorkItems = async () => {
        const counts = await workItems.numbers.read(executor, begin, now);
        const facts = { alive: workers?.alive ?? false, executing: counts.by_status.EXECUTING, slots };
        return {
          attention: await workItems.attention(executor, facts, from, now),
          work_items: { ...counts, slots },
        };
      };
      const readTriggers = async () => {
        const allowUnsigned = this.#settings().ALLOW_UNSIGNED_WEBHOOKS;
        return {
          attention: await triggers.attention(executor, allowUnsigned),
          triggers: await triggers.numbers.read(executor, allowUnsigned, begin, now),
        };
      };
      const readMoney = async () => ({
        costs: await costs.spent(executor),
        attention: [
          ...(await costs.attention(executor, from)),
          ...(await budgetAttention(executor, permitted.budgetsOfPeople)),
        ],
      });
      const readOthers = async () => {
        const states = permitted.integrations ? await integrations.read(executor, now) : null;
        return {
          attention: [
            ...(states ? integrations.attention(states, from, now) : []),
            ...(permitted.audit ? await auditAttention(executor, now) : []),
            ...(permitted.agents ? await agentAttention(executor, from) : []),
            ...(permitted.alerts ? await alertAttention(executor, permitted.budgetsOfPeople) : []),
            ...(permitted.channels ? await channelAttention(executor) : []),
            ...(permitted.keys ? await keyAttention(executor, now) : []),
          ],
          integrations: states,
          spans: states && {
            ...(await integrations.delivered(executor, begin, now)),
            queued: states.reduce((sum, { queued }) => sum + queued, 0),
          },
          setup: await findSetup(executor),
        };
      };
      // Side by side, each on a connection of its own: on PostgreSQL it takes as long as the longest.
      const [ofSchedules, numbers, items, events, money, { attention, ...others }] = await Promise.all([
        schedules.attention(executor, scheduling, from),
        schedules.numbers.read(executor, begin, now),
        permitted.workItems ? readWorkItems() : null,
        permitted.triggers ? readTriggers() : null,
        permitted.costs ? readMoney() : null,
        readOthers(),
      ]);
      return {
        now: scheduling.now,
        attention: sorted([
          ...replicas.attention(roles, scheduling),
          ...ofSchedules,
          ...(items?.attention ?? []),
          ...(events?.attention ?? []),
          ...(money?.attention ?? []),
          ...attention,
        ]),
        work_items: items?.work_items ?? null,
        schedules: numbers,
        triggers: events?.triggers ?? null,
        costs: money?.costs ?? null,
        ...others,
      };
    });
  }
}
