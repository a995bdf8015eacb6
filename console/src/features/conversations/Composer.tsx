import { useEffect, useRef, useState } from 'react';
import { perform, useAction, useUnsaved } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { Bar, Button, Problem, Textarea, useDisabledReason } from '../../ui/index.ts';
import css from './conversations.module.css';
import type { ConversationParams } from './params.ts';

/** The field for the next message, and the button that stops what goes on. */
export const Composer = ({
  params,
  conversation,
  calls,
  send,
}: {
  params: ConversationParams;
  conversation: ConversationDetail;
  calls: number;
  send: (content: string) => Promise<void>;
}) => {
  const { agent, status, message_count } = conversation;
  const [text, setText] = useState('');
  useUnsaved(() => text.trim() !== '');
  const field = useRef<HTMLTextAreaElement>(null);
  const submit = useAction(async (content: string) => {
    await send(content);
    // Text that was written in the meantime stays.
    setText((now) => (now === content ? '' : now));
  });
  const cancel = useAction(async () => {
    await perform('cancelRun', params);
    field.current?.focus({ preventScroll: true });
  });
  const notAllowed = useDisabledReason('sendMessage');
  const mayCancel = useDisabledReason('cancelRun');
  const running = status === 'running';
  const isEmpty = text.trim() === '';
  const reason = notAllowed ?? (running ? words.busy : isEmpty ? words.nothingWritten : null);
  const isNew = message_count === 0;
  useEffect(() => {
    if (isNew) field.current?.focus({ preventScroll: true });
  }, [isNew]);
  const go = () => {
    if (reason === null) void submit.run(text);
  };
  return (
    <form
      className={css.composer}
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <Textarea
        label={words.message}
        hiddenLabel
        name="message"
        value={text}
        onChange={setText}
        placeholder={words.ask(agent.name)}
        rows={3}
        onEnter={go}
        inputRef={field}
        disabledReason={notAllowed}
      />
      {submit.error && <Problem error={submit.error} />}
      {cancel.error && cancel.error.status !== 412 && <Problem error={cancel.error} />}
      <div className={css.below}>
        <p className={css.hint}>{calls > 0 ? words.denies(calls) : words.submitHint}</p>
        <Bar>
          {status !== 'idle' && (
            <Button
              kind="danger"
              busy={cancel.busy}
              disabledReason={mayCancel}
              onClick={() => void cancel.run()}
            >
              {words.cancel}
            </Button>
          )}
          <Button
            type="submit"
            kind={calls > 0 ? 'plain' : 'primary'}
            busy={submit.busy}
            disabledReason={reason}
          >
            {words.submit}
          </Button>
        </Bar>
      </div>
    </form>
  );
};
