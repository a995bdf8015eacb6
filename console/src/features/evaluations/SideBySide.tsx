import type { ReactNode } from 'react';
import type { Divergence, TrialMessage } from '../../api/types.gen.ts';
import { LongText, Messages, prettyJson } from '../../messages/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { cx, DiffView, Muted, OutcomeTag } from '../../ui/index.ts';
import css from './evaluations.module.css';
import { contentOf, stepsOf, toShown } from './transcript.ts';

type Transcript = readonly Pick<TrialMessage, 'role' | 'content'>[];

const say = (value: unknown): string => (value === undefined ? '' : prettyJson(value));

/** A call that is not as recorded, and what is different. */
const DivergenceBox = ({ divergence }: { divergence: Divergence }) => {
  const { kind, tool_name, nearest } = divergence;
  return (
    <div className={css.divergence}>
      <p>
        <OutcomeTag kind="late">{words.divergence}</OutcomeTag> {tool_name && <code>{tool_name}</code>}{' '}
        {words.divergences[kind]}
      </p>
      {nearest && nearest.changes.length > 0 ? (
        <>
          <Muted small>{words.nearest}</Muted>
          <DiffView
            theirs={words.recorded}
            mine={words.trial}
            differences={nearest.changes.map(({ path, from, to }) => ({
              label: path === '' ? '/' : path,
              theirs: say(from),
              mine: say(to),
            }))}
          />
        </>
      ) : (
        tool_name && (
          <>
            {kind === 'not_recorded' && !nearest && <Muted small>{words.noNearest}</Muted>}
            <LongText text={say(divergence.arguments)} mono fileName="arguments.json" />
          </>
        )
      )}
    </div>
  );
};

const Step = ({
  row,
  side,
  label,
  name,
  note,
  messages,
  prefix,
}: {
  row: number;
  side: 'left' | 'right';
  label: string;
  name: string;
  note?: ReactNode;
  messages: Transcript | undefined;
  prefix: string;
}) => (
  // The same style places it in two columns and, on a phone, in one.
  <div
    className={cx(css.step, css[side])}
    style={{ gridRow: row, order: row * 2 + (side === 'left' ? 0 : 1) }}
  >
    <h3>
      <span className={css.side}>{label}</span> {name} {note}
    </h3>
    {messages && messages.length > 0 ? (
      <Messages label={`${label} ${name}`} messages={toShown(messages, prefix)} />
    ) : (
      <p className={css.nothing}>{words.nothingHere}</p>
    )}
  </div>
);

/**
 * Two transcripts side by side, aligned by step, with the divergences of the right one below their steps. On a phone each
 * step of the left one is followed by that of the right one. Each side is a region that has its name.
 */
export const SideBySide = ({
  left,
  right,
  names,
  divergences = [],
  none,
}: {
  /** null: there is none. */
  left: Transcript | null;
  right: Transcript | null;
  names: readonly [left: string, right: string];
  divergences?: readonly Divergence[];
  /** Said in the place of a side that is missing. */
  none: readonly [left: string, right: string];
}) => {
  const ours = stepsOf(left ?? []);
  const theirs = stepsOf(right ?? []);
  const count = Math.max(ours.length, theirs.length);
  const places = Array.from({ length: count }, (_, step) => step);
  const nameOf = (step: number) => (step === 0 ? words.begin : words.step(step));
  // The row of a step, and below it that of its divergences. Later ones than the last step stand at the end.
  const rowOf = (step: number) => step * 2 + 2;
  const stepOf = ({ step }: Divergence) => Math.min(step, count - 1);
  const comparable = left !== null && right !== null;
  const noteOf = (step: number): ReactNode => {
    if (!comparable || !theirs[step] || !ours[step]) return null;
    const same = contentOf(ours[step]) === contentOf(theirs[step]);
    return same ? <Muted third>{words.same}</Muted> : <b className={css.differs}>{words.differs}</b>;
  };
  const sideOf = (transcript: Transcript | null, steps: readonly Transcript[], side: 'left' | 'right') => {
    const [at, prefix] = side === 'left' ? ([0, 'left'] as const) : ([1, 'right'] as const);
    return (
      <section className={css.sideRegion} aria-label={names[at]}>
        <h2 className={cx(css.sideTitle, css[side])} style={{ order: at }}>
          {names[at]}
        </h2>
        {transcript === null ? (
          <p className={cx(css.step, css[side], css.nothing)} style={{ gridRow: 2, order: 4 + at }}>
            {none[at]}
          </p>
        ) : (
          places.map((step) => (
            <Step
              key={step}
              row={rowOf(step)}
              side={side}
              label={names[at]}
              name={nameOf(step)}
              note={side === 'right' && noteOf(step)}
              messages={steps[step]}
              prefix={`${prefix}-${step}`}
            />
          ))
        )}
        {side === 'right' &&
          divergences.map((divergence, index) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: they are listed once, in their order.
              key={index}
              className={css.between}
              style={{ gridRow: rowOf(stepOf(divergence)) + 1, order: rowOf(stepOf(divergence)) * 2 + 2 }}
            >
              <DivergenceBox divergence={divergence} />
            </div>
          ))}
      </section>
    );
  };
  return (
    <div className={css.sides}>
      {sideOf(left, ours, 'left')}
      {sideOf(right, theirs, 'right')}
    </div>
  );
};
