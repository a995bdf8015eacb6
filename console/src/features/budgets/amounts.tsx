import type { PublicBudget } from '../../api/types.gen.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { usd } from '../../text/index.ts';
import { type Outcome, OutcomeTag, SumBar, Tag, TwoLines } from '../../ui/index.ts';

type Period = NonNullable<PublicBudget['current']>;

/** An amount in the unit of a budget. */
export const shownAmount = (unit: PublicBudget['unit'], amount: number): string =>
  unit === 'nano_usd' ? usd(amount) : words.tokens(amount);

const marks: Record<Period['state'], Outcome> = { ok: 'on-time', warning: 'late', exhausted: 'missing' };

export const StateTag = ({
  budget,
  state,
}: {
  budget: Pick<PublicBudget, 'enabled'>;
  state: Period['state'];
}) =>
  budget.enabled ? (
    <OutcomeTag kind={marks[state]}>{words.states[state]}</OutcomeTag>
  ) : (
    <Tag>{words.disabled}</Tag>
  );

/** Whose calls a budget counts, in words. */
export const scopeOf = ({ scope, subject }: Pick<PublicBudget, 'scope' | 'subject'>): string =>
  subject === null
    ? words.each[scope.kind]
    : words.ofSubject(words.scopes[scope.kind], subject.name ?? words.deleted_subject);

/** What is spent of the limit, as a bar and in words. */
export const Used = ({
  budget: { unit, limit },
  period,
}: {
  budget: Pick<PublicBudget, 'unit' | 'limit'>;
  period: Omit<Period, 'starts_at' | 'ends_at'>;
}) => {
  const { spent, reserved, extra, assumed, state } = period;
  const show = (amount: number) => shownAmount(unit, amount);
  const most = limit + extra;
  const text = words.of(show(spent), show(most));
  const left = most - spent - reserved;
  const notes = [
    ...(state === 'exhausted' && left > 0 ? [words.tooLittle(show(left))] : []),
    ...(reserved > 0 ? [words.reservedOf(show(reserved))] : []),
    ...(extra > 0 ? [words.extra(show(extra))] : []),
    ...(assumed > 0 ? [words.assumed(show(assumed))] : []),
  ];
  return (
    <>
      <TwoLines below={notes.join(' · ')}>{text}</TwoLines>
      <SumBar
        label={text}
        of={most}
        thin
        parts={[
          { label: words.spent, value: Math.min(spent, most), kind: marks[state] },
          { label: words.reserved, value: Math.min(reserved, Math.max(0, most - spent)), kind: 'due' },
        ]}
      />
    </>
  );
};
