import { useState } from 'react';
import { ApiProblem, perform, useAction, useOperation } from '../../../api/index.ts';
import type { PublicWorkItem } from '../../../api/types.gen.ts';
import { jsonText, readObject } from '../../../resource/index.ts';
import { newWorkItem } from '../../../text/en/new-work-item.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { fieldOfTime, timeOfField } from '../../../time/index.ts';
import { ActionDialog, Button, notify, Textarea, TextField, useDisabledReason } from '../../../ui/index.ts';

/** The payload as it was typed. Throws what is wrong with it like a refusal of the API. */
const typedPayload = (text: string): Record<string, unknown> => {
  const payload = text.trim() === '' ? {} : readObject(text);
  if (payload !== null) return payload;
  throw new ApiProblem(422, { message: newWorkItem.notObject });
};

const Fields = ({
  item,
  etag,
  onClose,
}: {
  item: PublicWorkItem;
  etag: string | null;
  onClose: () => void;
}) => {
  const [name, setName] = useState(item.work_item_name ?? '');
  const [message, setMessage] = useState(item.message);
  const [payload, setPayload] = useState(() => jsonText(item.payload));
  const [start, setStart] = useState(fieldOfTime(item.start_at));
  const save = useAction(async () => {
    const sameStart = start === fieldOfTime(item.start_at);
    await perform(
      'updateWorkItem',
      { work_item_id: item.id },
      {
        ifMatch: etag,
        body: {
          work_item_name: name.trim() || null,
          message,
          payload: typedPayload(payload),
          // The field has no seconds: a start that was not touched keeps them.
          ...(sameStart ? {} : { start_at: start === '' ? null : timeOfField(start) }),
        },
      },
    );
    notify(words.draftSaved);
    onClose();
  });
  return (
    <ActionDialog open wide onClose={onClose} title={words.editDraft} act={save}>
      <TextField label={words.draftName} value={name} onChange={setName} />
      <Textarea
        label={words.message}
        hint={words.draftMessageHint}
        value={message}
        onChange={setMessage}
        rows={5}
        autoFocus
      />
      <Textarea
        label={words.draftPayload}
        hint={words.draftPayloadHint}
        value={payload}
        onChange={setPayload}
        rows={6}
        mono
      />
      <TextField
        type="datetime-local"
        label={words.draftStart}
        hint={words.draftStartHint}
        value={start}
        onChange={setStart}
      />
    </ActionDialog>
  );
};

const Loading = ({ id, onClose }: { id: string; onClose: () => void }) => {
  // As everybody's client gets it, with the version that a change must not overwrite.
  const { data, etag } = useOperation('getWorkItem', { work_item_id: id });
  return data ? <Fields key={etag} item={data} etag={etag} onClose={onClose} /> : null;
};

export const EditDraft = ({ id }: { id: string }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button disabledReason={useDisabledReason('updateWorkItem')} onClick={() => setOpen(true)}>
        {words.editDraft}
      </Button>
      {open && <Loading id={id} onClose={() => setOpen(false)} />}
    </>
  );
};
