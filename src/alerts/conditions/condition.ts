import type { RawBuilder, Tx } from '../../database/index.ts';
import type { Settings } from '../../settings/index.ts';
import type { SubjectType } from '../kinds.ts';
import type { RulesOfKind } from '../rules/narrowest.ts';
import type { AlertRule } from '../rules/store.ts';

/** A condition finds this many subjects at most, so that no pass reads more. */
export const mostFound = 1_000;

/**
 * At most `most` of `all`, others at each look: with more than that all have had their turn after some looks. Reading all of
 * them would take longer than a look may.
 */
export const inTurn = <T>(all: readonly T[], most: number, now: number): readonly T[] => {
  if (all.length <= most) return all;
  const start = (Math.floor(now / 10_000) * most) % all.length;
  return [...all.slice(start), ...all.slice(0, start)].slice(0, most);
};

export interface Subject {
  id: string;
  name: string;
  agentId: string | null;
}

/** A subject for which a rule fires. */
export interface Finding {
  rule: AlertRule;
  /** Null if the condition is about no one thing. */
  subject: Subject | null;
  /** The event that it fires for, in milliseconds since 1970: an older one fires no second alert. */
  cause: number;
  /** One sentence without a full stop. */
  title: string;
  /** Sentences. */
  detail: string;
  /** It says what only administrators may see. */
  forAdmins?: boolean;
}

/** A subject of an alert that fires. */
export interface Open extends Subject {
  rule: AlertRule;
  cause: number;
}

/** One look. Times are in milliseconds since 1970, by the database's clock. */
export interface Look {
  tx: Tx;
  now: number;
  /** Events since then may not have been seen. */
  since: number;
  rules: RulesOfKind;
  /** The subjects for which alerts fire, by rules that still count. */
  open: readonly Open[];
  settings: Settings;
}

/** What is known of a look before anything is read for a kind. */
export type AskedLook = Pick<Look, 'now' | 'since' | 'rules' | 'settings'>;

/** What the alerts of a kind are fired for. It reads by indexes only: there may be a million of everything. */
export interface Condition {
  /** What an alert of a rule is about; null: no one thing. */
  subjectOf: (rule: AlertRule) => SubjectType | null;
  /** Returns the narrowest rule for a subject of this type, if it is enabled. */
  ruleFor: (
    rules: RulesOfKind,
    subject: Pick<Subject, 'id' | 'agentId'>,
    type: SubjectType | null,
  ) => AlertRule | undefined;
  /** The title of one alert about many subjects. */
  together: (subjects: string) => string;
  /** What a subject is called: `schedule`. */
  noun: string;
  /** It is about events: one that was fired for, or is older, fires no second alert. Default: about states. */
  isOfEvents?: true;
  /**
   * False only if `find` would find nothing and write nothing. The answers of all kinds are one statement, so that a kind
   * that has nothing to say costs no more. Asked only with an enabled rule, and while none of its alerts fires.
   */
  mayFind(look: AskedLook): RawBuilder<boolean>;
  /** Finds the subjects for which the condition holds, or, of events, has come to hold since. */
  find(look: Look): Promise<Finding[]>;
  /**
   * Returns those of `open` for which it is over; others go on. Without it: those that `find` does not find, which then finds
   * each open subject for which the condition holds, however many there are.
   */
  over?(look: Look, findings: readonly Finding[]): Promise<ReadonlySet<Open>>;
}
