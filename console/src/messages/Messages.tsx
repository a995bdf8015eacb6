import { Fragment, type ReactNode } from 'react';
import { readObject } from '../resource/json.ts';
import { messages as words } from '../text/en/messages.ts';
import { Time } from '../time/index.ts';
import { cx } from '../ui/index.ts';
import { ApprovalCall } from './Approval.tsx';
import { Call, Folded } from './Call.tsx';
import type { Deciding } from './decisions.ts';
import { FormatButton, looksFormatted, useFormatting } from './formatting.tsx';
import { LongText } from './LongText.tsx';
import css from './Messages.module.css';
import { newCall, type Paired, pairCalls } from './pair.ts';
import type { MessagePart, PendingApproval, ShownMessage, ToolCallPart, ToolResultPart } from './types.ts';
import { prettyJson, splitPayload, summaryOf } from './values.ts';

/** The id of the element of a message, which is its address in the page. */
export const anchorOf = (messageId: string): string => `message-${messageId}`;

interface Context {
  paired: Paired;
  running: boolean;
  deciding: Deciding | null;
  quiet: boolean;
  resultAction: ((result: ToolResultPart) => ReactNode) | undefined;
}

const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text) && prettyJson(text) !== text;

const TextOf = ({ message, text, cut }: { message: ShownMessage; text: string; cut: boolean }) => {
  const json = looksLikeJson(text);
  const formatting = useFormatting();
  const { before, payload } = message.role === 'user' ? splitPayload(text) : { before: text, payload: null };
  const whole = cut ? message.whole : null;
  const name = anchorOf(message.id);
  return (
    <>
      {before !== '' && (
        <LongText
          text={json ? prettyJson(text) : before}
          mono={json}
          formatted={formatting && !json && message.role === 'assistant' && looksFormatted(before)}
          fileName={`${name}.${json ? 'json' : 'txt'}`}
          whole={payload === null ? whole : null}
          unfolded={message.live}
        />
      )}
      {payload !== null && (
        <Folded name={words.payload} summary={summaryOf(readObject(payload) ?? payload)}>
          <LongText text={prettyJson(payload)} mono fileName={`${name}.json`} whole={whole} />
        </Folded>
      )}
    </>
  );
};

const CallOf = ({ part, context }: { part: ToolCallPart; context: Context }) => {
  const shown = context.paired.calls.get(part)!;
  return shown.approval && !shown.result ? (
    <ApprovalCall approval={shown.approval} deciding={context.deciding} quiet={context.quiet} />
  ) : (
    <Call
      shown={shown}
      running={context.running}
      aside={shown.result && context.resultAction?.(shown.result)}
    />
  );
};

const Part = ({ message, part, context }: { message: ShownMessage; part: MessagePart; context: Context }) => {
  if (part.type === 'text' && message.role === 'system') {
    return (
      <Folded name={words.instructions} summary={summaryOf(part.text)}>
        <TextOf message={message} text={part.text} cut={part.cut ?? false} />
      </Folded>
    );
  }
  if (part.type === 'text') return <TextOf message={message} text={part.text} cut={part.cut ?? false} />;
  if (part.type === 'tool_call') return <CallOf part={part} context={context} />;
  // A result whose call is on an earlier page.
  const { tool_call_id, tool_name } = part;
  const call: ToolCallPart = { type: 'tool_call', tool_call_id, tool_name, arguments: undefined };
  return (
    <Call shown={{ ...newCall(call), result: part }} running={false} aside={context.resultAction?.(part)} />
  );
};

const canFormat = ({ role, content }: ShownMessage): boolean =>
  role === 'assistant' &&
  content.some((part) => part.type === 'text' && !looksLikeJson(part.text) && looksFormatted(part.text));

const One = ({ message, context }: { message: ShownMessage; context: Context }) => {
  const { id, role, author, note, created_at, content } = message;
  return (
    <li id={anchorOf(id)} className={cx(css.message, css[role])} tabIndex={-1}>
      {role !== 'system' && (
        <header>
          <b>{author}</b>
          {note && <span>{note}</span>}
          {created_at !== null && (
            <a href={`#${anchorOf(id)}`} className={css.anchor} title={words.linkToMessage}>
              <Time at={created_at} form="clock" />
            </a>
          )}
          {canFormat(message) && (
            <span className={css.format}>
              <FormatButton />
            </span>
          )}
        </header>
      )}
      {content.length === 0 && <p className={css.none}>{words.empty}</p>}
      {content.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message keep their places.
        <Part key={index} message={message} part={part} context={context} />
      ))}
    </li>
  );
};

export interface MessagesProps {
  label: string;
  /** Oldest first. Those of one conversation. */
  messages: readonly ShownMessage[];
  pending?: readonly PendingApproval[];
  /** The decisions (`useDecisions`); null: not here. */
  deciding?: Deciding | null;
  /** The buttons of a waiting call are elsewhere on the page. */
  quiet?: boolean;
  /** Calls without a result go on. */
  running?: boolean;
  /** A button next to each result: "Edit result". */
  resultAction?: (result: ToolResultPart) => ReactNode;
  /** Above the first message: "Earlier messages". */
  before?: ReactNode;
  /** Below the last one: `SendDecisions`. */
  after?: ReactNode;
}

/**
 * Messages below each other. Calls of tools are folded to a line, with their results; those that wait for a person are
 * open, with their buttons. All text is hostile: it becomes text nodes, and addresses become links that say nothing of
 * this page.
 */
export const Messages = ({
  label,
  messages,
  pending = [],
  deciding = null,
  quiet = false,
  running = false,
  resultAction,
  before,
  after,
}: MessagesProps) => {
  const paired = pairCalls(messages, pending);
  // Calls of a lost attempt have no result; only those of the last message go on.
  const last = paired.messages.at(-1);
  const contextOf = (message: ShownMessage): Context => ({
    paired,
    running: running && message === last,
    deciding,
    quiet,
    resultAction,
  });
  return (
    <ol className={css.messages} aria-label={label}>
      {before && <li className={css.message}>{before}</li>}
      {paired.messages.map((message) => (
        <One key={message.id} message={message} context={contextOf(message)} />
      ))}
      {paired.unmatched.length > 0 && (
        <li className={css.message}>
          {paired.unmatched.map((approval) => (
            <Fragment key={approval.approval_id}>
              <ApprovalCall approval={approval} deciding={deciding} quiet={quiet} />
            </Fragment>
          ))}
        </li>
      )}
      {after && <li className={css.message}>{after}</li>}
    </ol>
  );
};
