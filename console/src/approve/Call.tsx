import { toolOfReason } from '../messages/values.ts';
import { approve as words } from '../text/en/approve.ts';
import { common } from '../text/en/common.ts';
import { messages } from '../text/en/messages.ts';
import { Changes } from './Changes.tsx';
import { type Asked, type CallDraft, editedArguments, shownJson } from './draft.ts';
import { Button, Field, TextArea } from './parts.tsx';

/** The buttons that choose, if several calls wait: all choices are sent together. */
export const Choose = ({
  draft,
  onDraft,
  yes,
  no,
}: {
  draft: CallDraft;
  onDraft: (change: CallDraft) => void;
  yes: string;
  no: string;
}) => (
  <div className="pair">
    <Button pressed={draft.chosen === 'deny'} onClick={() => onDraft({ chosen: 'deny' })}>
      {no}
    </Button>
    <Button pressed={draft.chosen === 'approve'} onClick={() => onDraft({ chosen: 'approve' })}>
      {yes}
    </Button>
  </div>
);

const Arguments = ({
  call,
  draft,
  onDraft,
  mayDecide,
}: {
  call: Asked;
  draft: CallDraft;
  onDraft: (change: CallDraft) => void;
  mayDecide: boolean;
}) => {
  const asked = call.arguments ?? {};
  const text = shownJson(asked);
  if (draft.edited === undefined) {
    return (
      <>
        {Object.keys(asked).length === 0 ? <p className="hint">{words.noArguments}</p> : <pre>{text}</pre>}
        {mayDecide && call.kind !== 'budget' && (
          <Button kind="quiet" onClick={() => onDraft({ edited: text })}>
            {messages.editArguments}
          </Button>
        )}
      </>
    );
  }
  const written = editedArguments(call, draft);
  return (
    <>
      <Field label={messages.arguments} error={written === null ? messages.notObject : null}>
        {(control) => (
          <TextArea
            {...control}
            value={draft.edited!}
            onChange={(edited) => onDraft({ edited })}
            rows={Math.min(16, draft.edited!.split('\n').length + 1)}
            mono
          />
        )}
      </Field>
      {written !== null && <Changes before={asked} after={written ?? asked} />}
      <Button kind="quiet" onClick={() => onDraft({ edited: undefined })}>
        {words.discardChanges}
      </Button>
    </>
  );
};

/** A call that waits: its tool, its arguments whole, and what the person writes about it. */
export const Call = ({
  call,
  name,
  draft,
  onDraft,
  mayDecide,
  several,
}: {
  call: Asked;
  name: string;
  draft: CallDraft;
  onDraft: (change: CallDraft) => void;
  mayDecide: boolean;
  several: boolean;
}) => (
  <section aria-label={name} className="card">
    {several && <p className="hint">{name}</p>}
    <h2>{call.kind === 'budget' ? messages.budget : <code className="tool">{call.tool_name}</code>}</h2>
    {call.reason && toolOfReason(call.reason) === null && <p>{call.reason}</p>}
    {call.kind === 'unknown_outcome' && (
      <p className="say look">
        {words.unknown} {words.unknownMore}
      </p>
    )}
    <Arguments call={call} draft={draft} onDraft={onDraft} mayDecide={mayDecide} />
    {mayDecide && (
      <Field label={common.reason} hint={words.reasonHint}>
        {(control) => (
          <TextArea
            {...control}
            value={draft.reason ?? ''}
            onChange={(reason) => onDraft({ reason })}
            rows={2}
          />
        )}
      </Field>
    )}
    {mayDecide && several && (
      <Choose draft={draft} onDraft={onDraft} yes={messages.approve} no={messages.deny} />
    )}
  </section>
);
