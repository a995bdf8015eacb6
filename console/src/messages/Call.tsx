import { type ReactNode, useId, useState } from 'react';
import { messages as words } from '../text/en/messages.ts';
import { duration } from '../text/index.ts';
import { CopyButton, cx, OutcomeTag, Tag } from '../ui/index.ts';
import { LongText } from './LongText.tsx';
import css from './Messages.module.css';
import type { ShownCall, Whole } from './types.ts';
import { prettyJson, summaryOf } from './values.ts';

/** A value of a call under its name, with a button that copies it. */
const Value = ({ label, value, whole }: { label: string; value: unknown; whole?: Whole | null }) => {
  const text = prettyJson(value);
  return (
    <div className={css.value}>
      <div className={css.valueHead}>
        <span>{label}</span>
        <CopyButton value={text} label={words.copyOf(label)} small kind="quiet" />
      </div>
      <LongText text={text} mono fileName={`${label.toLowerCase()}.json`} whole={whole} />
    </div>
  );
};

/** The outcome of a call that is not simply done. */
const State = ({ shown, running }: { shown: ShownCall; running: boolean }) => {
  if (shown.result)
    return shown.result.is_error ? <OutcomeTag kind="missing">{words.failed}</OutcomeTag> : null;
  return running ? (
    <OutcomeTag kind="due">{words.running}</OutcomeTag>
  ) : (
    <Tag kind="skipped">{words.noResult}</Tag>
  );
};

const Fold = ({ line, aside, children }: { line: ReactNode; aside?: ReactNode; children: ReactNode }) => {
  const id = useId();
  const [open, setOpen] = useState(false);
  return (
    <div className={css.call}>
      <div className={css.lines}>
        <button
          type="button"
          className={css.line}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          {line}
          <span className={cx(css.chevron, open && css.open)} aria-hidden="true" />
        </button>
        {aside}
      </div>
      {open && <div id={id}>{children}</div>}
    </div>
  );
};

/**
 * A call of a tool, folded to a line: its name, its arguments in short, how long it took. Open it shows the arguments and
 * the result. `running`: calls without a result go on. `aside`: a button next to the line.
 */
export const Call = ({
  shown,
  running,
  aside,
}: {
  shown: ShownCall;
  running: boolean;
  aside?: ReactNode;
}) => {
  const { call, result, took } = shown;
  return (
    <Fold
      aside={aside}
      line={
        <>
          <State shown={shown} running={running} />
          <code>{call.tool_name}</code>
          <span className={css.summary}>{summaryOf(call.arguments)}</span>
          {took !== null && <span className={css.took}>{duration(took)}</span>}
        </>
      }
    >
      <Value label={words.arguments} value={call.arguments} whole={shown.wholeCall} />
      {result?.executed_arguments && (
        <Value label={words.executedArguments} value={result.executed_arguments} />
      )}
      {result && <Value label={words.result} value={result.text} whole={shown.wholeResult} />}
    </Fold>
  );
};

/** Something folded to a line: a name, and what is in it in short. */
export const Folded = ({
  name,
  summary,
  children,
}: {
  name: string;
  summary: string;
  children: ReactNode;
}) => (
  <Fold
    line={
      <>
        <span className={css.foldedName}>{name}</span>
        <span className={css.summary}>{summary}</span>
      </>
    }
  >
    <div className={css.value}>{children}</div>
  </Fold>
);

/** A call that a person looks at before it is made: its arguments are open. `children` are the buttons. */
export const WaitingCall = ({
  toolName,
  tag,
  note,
  more,
  args,
  children,
}: {
  toolName: string | null;
  tag: ReactNode;
  note?: string | null;
  more?: string | null;
  args: unknown;
  children?: ReactNode;
}) => (
  <div className={css.call}>
    <div className={cx(css.line, css.waiting)}>
      {tag}
      <code>{toolName}</code>
      {children && <span className={css.buttons}>{children}</span>}
    </div>
    <div className={css.value}>
      {note && <p className={css.note}>{note}</p>}
      {more && <p className={css.note}>{more}</p>}
      {args !== undefined && <LongText text={prettyJson(args ?? {})} mono fileName="arguments.json" />}
    </div>
  </div>
);
