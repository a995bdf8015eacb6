import { audit } from '../audit/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import type { Announcer } from '../lib/announcer.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type Actor, type Principal, roleAllows } from '../lib/principal.ts';
import {
  type AlertRow,
  findLockedAlert,
  insertAlerts,
  listFiringOf,
  type NewAlert,
  updateAcknowledged,
  updateResolved,
} from './store.ts';

/** Alerts about budgets of persons are for administrators, as those budgets are. */
export const seesAll = ({ role }: Principal): boolean => roleAllows(role, 'admin');

/** How alerts begin, are acknowledged and end. */
export class AlertChanges {
  readonly #announcer: Announcer<Executor, Tx> | null;

  /** `announcer`: what tells people; null: alerts are only on their page. */
  constructor(announcer: Announcer<Executor, Tx> | null) {
    this.#announcer = announcer;
  }

  /** Fires alerts. One that fires already for its rule and subject is left as it is. */
  async fire(tx: Tx, alerts: readonly NewAlert[]): Promise<void> {
    const inserted = new Set(await insertAlerts(tx, alerts));
    for (const { id, kind, agent_id: agentId, severity } of alerts) {
      if (!inserted.has(id)) continue;
      await this.#announcer?.opened(tx, { type: 'alert', id, facts: { kind, agentId, severity } });
    }
  }

  /** Resolves those of these alerts that fire. */
  async resolve(tx: Tx, ids: readonly string[]): Promise<void> {
    for (const id of await updateResolved(tx, ids))
      await this.#announcer?.changed(tx, { type: 'alert', id }, 'resolved');
  }

  /** Resolves the alerts of a rule that goes. */
  async resolveOf(tx: Tx, ruleId: string): Promise<void> {
    await this.resolve(tx, await listFiringOf(tx, ruleId));
  }

  /**
   * Acknowledges an alert. One that someone acknowledged before stays as it is. Throws 404 for an unknown one, 412 for one
   * that is resolved.
   */
  async acknowledge(tx: Tx, actor: Actor, id: string, note: string | null): Promise<AlertRow> {
    const alert = isId(id) ? await findLockedAlert(tx, id) : undefined;
    if (!alert) throw notFound('alert');
    if (alert.state === 'resolved')
      throw new ApiError('precondition_failed', 'The alert is resolved, so there is nothing to acknowledge.');
    if (alert.acknowledged_at !== null) return alert;
    const { kind, id: by, name } = actor.principal;
    const acknowledged = await updateAcknowledged(tx, id, { kind, id: by, name }, note);
    await audit(tx, actor, 'alert.acknowledge', id, {
      kind: alert.kind,
      title: alert.title,
      ...(note === null ? {} : { note }),
    });
    await this.#announcer?.changed(tx, { type: 'alert', id }, 'acknowledged');
    return acknowledged;
  }
}
