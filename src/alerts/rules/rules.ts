import { agentCalls } from '../../agents/index.ts';
import { audit } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { type Fault, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import { type AlertKind, kindFacts } from '../kinds.ts';
import { mergeParams } from './params.ts';
import {
  type AlertRule,
  alertRules,
  deleteAlertRuleRow,
  findLockedRule,
  insertAlertRule,
  lockScheduleForShare,
} from './store.ts';

/** The body that creates a rule, by the schema of its kind. */
export interface NewAlertRule extends Pick<AlertRule, 'name' | 'kind' | 'enabled' | 'severity'> {
  params: object;
  agent_id: string | null;
  schedule_id: string | null;
}

/** A body that changes a rule. */
export interface ChangedRule {
  name?: string | undefined;
  kind?: string | undefined;
  enabled?: boolean | undefined;
  severity?: AlertRule['severity'] | undefined;
  /** Merged with those before, and checked by their kind. */
  params?: Parameters<typeof mergeParams>[2];
  agent_id?: string | null | undefined;
  schedule_id?: string | null | undefined;
}

const words = { agent_id: 'an agent', schedule_id: 'a schedule' } as const;

const scopeFaults = (
  kind: AlertKind,
  scope: { agent_id: string | null; schedule_id: string | null },
): Fault[] => {
  const { narrower } = kindFacts[kind];
  const faults = (['agent_id', 'schedule_id'] as const)
    .filter((path) => scope[path] !== null && !narrower.includes(path))
    .map((path) => ({ path, message: `must be null: a rule of the kind ${kind} is not for ${words[path]}` }));
  if (faults.length === 0 && scope.agent_id !== null && scope.schedule_id !== null)
    faults.push({ path: 'schedule_id', message: 'must be null with `agent_id`: a rule is for one of them' });
  return faults;
};

/**
 * Locks what the rule is for, so that it is not deleted before the transaction ends. Throws 422 for what the kind cannot be
 * for, and for an unknown schedule; 404 for an unknown agent.
 */
const lockSubject = async (
  tx: Tx,
  kind: AlertKind,
  scope: { agent_id: string | null; schedule_id: string | null },
): Promise<void> => {
  const faults = scopeFaults(kind, scope);
  if (faults.length > 0) throw unprocessable(faults);
  const { agent_id, schedule_id } = scope;
  if (agent_id !== null && !(await agentCalls.lockForShare(tx, agent_id))) throw notFound('agent');
  if (schedule_id !== null && !(isId(schedule_id) && (await lockScheduleForShare(tx, schedule_id))))
    throw unprocessable([{ path: 'schedule_id', message: 'is not a schedule' }]);
};

/** Creates a rule. Throws 422 if there are as many as there may be. `leaving`: how many the transaction deletes afterwards. */
export const createAlertRule = async (
  tx: Tx,
  actor: Actor,
  values: NewAlertRule,
  leaving = 0,
): Promise<AlertRule> => {
  await lockSubject(tx, values.kind, values);
  await advisoryLock(tx, 'alert rules');
  const { MAX_ALERT_RULES: max } = await readSettings(tx);
  if ((await alertRules.count(tx)) - leaving >= max) {
    throw unprocessable(
      [{ path: 'name', message: `is one too many: there are ${max} alert rules, the maximum` }],
      { setting: 'MAX_ALERT_RULES' },
    );
  }
  const { name, kind, enabled, severity, agent_id, schedule_id } = values;
  const params = values.params as Record<string, unknown>;
  const rule = await insertAlertRule(tx, newId(), {
    name,
    kind,
    enabled,
    severity,
    params,
    agent_id,
    schedule_id,
  });
  await audit(tx, actor, 'alert_rule.create', rule.id, {
    name,
    kind,
    enabled,
    severity,
    params,
    agent_id: rule.agent_id,
    schedule_id: rule.schedule_id,
  });
  return rule;
};

/** Returns the rule, locked until the transaction ends. Throws 404 if there is none. */
export const lockAlertRule = async (tx: Tx, id: string): Promise<AlertRule> => {
  const rule = isId(id) ? await findLockedRule(tx, id) : undefined;
  if (!rule) throw notFound('alert rule');
  return rule;
};

/** Returns the rule, locked, with its parameters after the change. Throws 422 for changes that it cannot have. */
export const lockRuleToUpdate = async (
  tx: Tx,
  id: string,
  { kind, params: given, agent_id, schedule_id }: ChangedRule,
): Promise<{ revision: number; before: AlertRule; params: object | undefined }> => {
  const before = await lockAlertRule(tx, id);
  if (kind !== undefined && kind !== before.kind)
    throw unprocessable([{ path: 'kind', message: `cannot be changed; it is ${before.kind}` }]);
  const params = given === undefined ? undefined : mergeParams(before.kind, before.params, given);
  if (agent_id !== undefined || schedule_id !== undefined) {
    await lockSubject(tx, before.kind, {
      agent_id: agent_id === undefined ? before.agent_id : agent_id,
      schedule_id: schedule_id === undefined ? before.schedule_id : schedule_id,
    });
  }
  return { revision: before.revision, before, params };
};

/** Changes the rule that `lockRuleToUpdate` returned. */
export const updateAlertRule = async (
  tx: Tx,
  actor: Actor,
  { before, params }: { before: AlertRule; params: object | undefined },
  { kind: _, params: __, ...others }: ChangedRule,
): Promise<AlertRule> => {
  const changes = { ...others, ...(params && { params: params as Record<string, unknown> }) };
  const rule = await alertRules.update(tx, before.id, changes);
  await audit(tx, actor, 'alert_rule.update', rule.id, {
    name: rule.name,
    changed: alertRules.changed(changes),
    ...(rule.enabled === before.enabled ? {} : { enabled: rule.enabled }),
  });
  return rule;
};

/** Deletes the locked rule. `resolve` ends its alerts first. */
export const deleteAlertRule = async (
  tx: Tx,
  actor: Actor,
  { id, name, kind }: AlertRule,
  resolve: (tx: Tx, ruleId: string) => Promise<unknown>,
): Promise<void> => {
  await resolve(tx, id);
  await deleteAlertRuleRow(tx, id);
  await audit(tx, actor, 'alert_rule.delete', id, { name, kind });
};
