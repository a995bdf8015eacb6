import type { Alert } from '../../api/types.gen.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { type Outcome, OutcomeTag } from '../../ui/index.ts';

type Severity = Alert['severity'];

const marks = { error: 'missing', warning: 'late', info: 'due' } as const satisfies Record<Severity, Outcome>;

export const SeverityTag = ({ severity }: { severity: Severity }) => (
  <OutcomeTag kind={marks[severity]}>{words.severities[severity]}</OutcomeTag>
);

/** Whether an alert fires. Then it has the color of its severity. */
export const StateTag = ({ alert: { state, severity } }: { alert: Pick<Alert, 'state' | 'severity'> }) => (
  <OutcomeTag kind={state === 'firing' ? marks[severity] : 'on-time'}>{words.states[state]}</OutcomeTag>
);

/** What an alert is about, in a few words: "Missed: Nightly". */
export const aboutOf = ({ kind, subject, count }: Pick<Alert, 'kind' | 'subject' | 'count'>): string => {
  if (subject !== null) return words.about(words.kinds[kind], subject.name);
  return count > 1 ? words.about(words.kinds[kind], words.many(count)) : words.kinds[kind];
};

/** Whether someone may say that they look after it. */
export const isOpen = ({ state, acknowledged_at }: Pick<Alert, 'state' | 'acknowledged_at'>): boolean =>
  state === 'firing' && acknowledged_at === null;
