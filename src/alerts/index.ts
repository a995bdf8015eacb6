import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Announcer } from '../lib/announcer.ts';
import type { Actor } from '../lib/principal.ts';
import { AlertChanges } from './alerts.ts';
import { alertAttention } from './attention.ts';
import { HeartbeatCalls } from './heartbeat.ts';
import { alertMetrics } from './metrics.ts';
import { AlertPass, type TimedPass } from './pass.ts';
import { alertRoutes } from './routes.ts';
import { alertRulePageRoutes } from './rules/page-routes.ts';
import { alertRuleRoutes } from './rules/routes.ts';
import {
  type ChangedRule,
  createAlertRule,
  deleteAlertRule,
  lockAlertRule,
  lockRuleToUpdate,
  type NewAlertRule,
  updateAlertRule,
} from './rules/rules.ts';
import { type AlertRule, listAlertRules } from './rules/store.ts';
import { toAlert } from './schemas.ts';
import { countFiring, deleteOldAlerts, findAlert } from './store.ts';

export type { NewAlertRule } from './rules/rules.ts';
export { form as alertRuleForm } from './rules/schemas.ts';

/** An alert as the API shows it. */
type ShownAlert = ReturnType<typeof toAlert>;

export interface Alerts extends Feature {
  /** All rules. */
  list(executor: Executor): Promise<AlertRule[]>;
  /** `leaving`: how many the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, values: NewAlertRule, leaving: number): Promise<AlertRule>;
  update(tx: Tx, actor: Actor, id: string, changes: ChangedRule): Promise<AlertRule>;
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Returns an alert as the API shows it to an administrator, without its messages; undefined if there is none. */
  read(executor: Executor, id: string): Promise<ShownAlert | undefined>;
  /** Throws 404 for an unknown alert, 412 for one that is resolved. Acknowledged again it stays as it is. */
  acknowledge(tx: Tx, actor: Actor, id: string, note: string | null): Promise<ShownAlert>;
  /** How many alerts fire that no one has acknowledged. */
  countOpen(executor: Executor, isAdmin: boolean): Promise<number>;
  /** Returns the line of the Overview. */
  attention: typeof alertAttention;
  /** For tests that move the database's clock. */
  looks: AlertPass;
}

interface Needs {
  schedules: { firing: { isWorking(): boolean } };
  /** What tells people of alerts; null: they are only on their page. */
  announcer: Announcer<Executor, Tx> | null;
  /** What others do every ten seconds, on one replica at a time. */
  passes: readonly TimedPass[];
}

/** Alerts: rules, what they fire for, and the calls of a heartbeat that say that schedules fire at all. */
export const createAlerts = (
  { config, db, log, egress, publicUrl }: Services,
  { schedules, announcer, passes }: Needs,
): Alerts => {
  const changes = new AlertChanges(announcer);
  const looks = new AlertPass({ db, log, changes, passes });
  const resolveOf = (tx: Tx, ruleId: string) => changes.resolveOf(tx, ruleId);
  const heartbeat =
    config.heartbeat &&
    new HeartbeatCalls({
      config: config.heartbeat,
      egress,
      log,
      isFiring: () => schedules.firing.isWorking(),
    });
  return {
    tag: { name: 'Alerts', description: 'What is wrong, by rules, until it is over.' },
    routes: [
      ...alertRoutes({ db, publicUrl, changes, announcer }),
      ...alertRuleRoutes({ db, resolveOf }),
      ...alertRulePageRoutes(db),
    ],
    loops: [looks, ...(heartbeat ? [heartbeat] : [])],
    metrics: [...alertMetrics(db), ...(heartbeat?.metrics ?? [])],
    retention: [(tx, { ALERT_RETENTION_DAYS: days }, limit) => deleteOldAlerts(tx, days, limit)],
    list: (executor) => listAlertRules(executor, everything),
    create: createAlertRule,
    update: async (tx, actor, id, body) =>
      updateAlertRule(tx, actor, await lockRuleToUpdate(tx, id, body), body),
    delete: async (tx, actor, id) => deleteAlertRule(tx, actor, await lockAlertRule(tx, id), resolveOf),
    read: async (executor, id) => {
      const row = await findAlert(executor, id, true);
      return row && toAlert(row, publicUrl());
    },
    acknowledge: async (tx, actor, id, note) =>
      toAlert(await changes.acknowledge(tx, actor, id, note), publicUrl()),
    countOpen: async (executor, isAdmin) =>
      (await countFiring(executor, isAdmin)).reduce(
        (sum, { acknowledged, n }) => sum + (acknowledged ? 0 : n),
        0,
      ),
    attention: alertAttention,
    looks,
  };
};
