import type { AlertKind } from '../kinds.ts';
import type { ParamsOf } from './params.ts';
import type { AlertRule } from './store.ts';

/** The rules of one kind. `all` are in the order of their creation. */
export class RulesOfKind {
  /** The latest change of a rule, in milliseconds since 1970. */
  readonly changedAt: number;
  readonly #all: readonly AlertRule[];
  readonly #ofSchedule: ReadonlyMap<string, AlertRule>;
  readonly #ofAgent: ReadonlyMap<string, AlertRule>;
  readonly #ofWorkspace: AlertRule | undefined;

  constructor(all: readonly AlertRule[]) {
    this.#all = all;
    this.changedAt = Math.max(0, ...all.map(({ updated_at }) => updated_at.getTime()));
    // Of several the oldest counts: it is set last.
    const newestFirst = all.toReversed();
    this.#ofSchedule = new Map(
      newestFirst.flatMap((rule) => (rule.schedule_id ? [[rule.schedule_id, rule]] : [])),
    );
    this.#ofAgent = new Map(newestFirst.flatMap((rule) => (rule.agent_id ? [[rule.agent_id, rule]] : [])));
    this.#ofWorkspace = all.find(({ schedule_id, agent_id }) => schedule_id === null && agent_id === null);
  }

  get enabled(): readonly AlertRule[] {
    return this.#all.filter(({ enabled }) => enabled);
  }

  /** Those of schedules that count: the oldest of each. */
  get ofSchedules(): readonly AlertRule[] {
    return [...this.#ofSchedule.values()];
  }

  /** The rule of a schedule itself, if it is enabled. */
  ownOf(scheduleId: string): AlertRule | undefined {
    const rule = this.#ofSchedule.get(scheduleId);
    return rule?.enabled ? rule : undefined;
  }

  /** The narrowest rule for a subject, if it is enabled: a disabled one mutes the wider ones. */
  narrowest({
    scheduleId,
    agentId,
  }: {
    scheduleId?: string;
    agentId?: string | null;
  }): AlertRule | undefined {
    const rule =
      (scheduleId && this.#ofSchedule.get(scheduleId)) ||
      (agentId && this.#ofAgent.get(agentId)) ||
      this.#ofWorkspace;
    return rule?.enabled ? rule : undefined;
  }
}

/** The parameters of a rule of this kind. */
export const paramsIn = <K extends AlertKind>(rule: AlertRule, _kind: K): ParamsOf<K> =>
  rule.params as ParamsOf<K>;

/** The later of a time and the creation of the rule, in milliseconds since 1970: what was before does not count. */
export const countedFrom = ({ created_at }: AlertRule, at: Date | number): number =>
  Math.max(created_at.getTime(), typeof at === 'number' ? at : at.getTime());
