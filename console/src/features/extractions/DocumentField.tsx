import { type DragEvent, useRef, useState } from 'react';
import { type Body, useOperation } from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { bytes } from '../../text/index.ts';
import { Button, ButtonLink, cx, Link, Loaded, Muted, Words } from '../../ui/index.ts';
import css from './extractions.module.css';

/** The file of a conversation or a Work Item that the address names. */
type Picked = Body<'createExtraction'>['file'];

interface PickedSearch {
  agent_id?: string | undefined;
  conversation_id?: string | undefined;
  work_item_id?: string | undefined;
  file_id?: string | undefined;
}

export const pickedOf = (search: PickedSearch): Picked | null => {
  const { agent_id, conversation_id, work_item_id, file_id } = search;
  if (!file_id) return null;
  if (work_item_id) return { work_item_id, file_id };
  return agent_id && conversation_id ? { agent_id, conversation_id, file_id } : null;
};

const PlaceLink = ({ picked }: { picked: Picked }) => {
  if ('work_item_id' in picked) {
    const href = to('/work-items/$workItemId', { workItemId: picked.work_item_id }, { tab: 'files' });
    return <Link href={href}>{words.workItem}</Link>;
  }
  const params = { agentId: picked.agent_id, conversationId: picked.conversation_id };
  return (
    <Link href={to('/agents/$agentId/conversations/$conversationId', params, { tab: 'files' })}>
      {words.conversation}
    </Link>
  );
};

export const PickedDocument = ({ picked }: { picked: Picked }) => {
  const ofWorkItem = useOperation('getWorkItemFile', 'work_item_id' in picked ? picked : null);
  const ofConversation = useOperation('getConversationFile', 'agent_id' in picked ? picked : null);
  const got = 'work_item_id' in picked ? ofWorkItem : ofConversation;
  return (
    <fieldset className={css.document}>
      <legend>{words.document}</legend>
      {got.error?.status === 404 ? (
        <p role="alert" className={css.error}>
          {words.fileGone}
        </p>
      ) : (
        <Loaded got={got} operation="createExtraction">
          {({ name, size_bytes }) => (
            <p className={css.name}>
              <bdi>{name}</bdi> <Muted>{bytes(size_bytes)}</Muted>
              <br />
              <Muted small>
                <Words text={words.fileOf} place={<PlaceLink picked={picked} />} />
              </Muted>
            </p>
          )}
        </Loaded>
      )}
      <ButtonLink small href={to('/extractions/new')} keepScroll>
        {words.uploadInstead}
      </ButtonLink>
    </fieldset>
  );
};

export const DocumentField = ({
  value: file,
  onChange,
  error,
  disabledReason,
}: {
  value: File | null;
  onChange: (file: File) => void;
  error: string | undefined;
  disabledReason: string | null | undefined;
}) => {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const take = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setOver(event.type === 'dragover');
    const [dropped] = event.dataTransfer.files;
    if (event.type === 'drop' && dropped) onChange(dropped);
  };
  return (
    <fieldset
      className={cx(css.document, css.dropHere, over && css.over)}
      onDragOver={take}
      onDrop={take}
      onDragLeave={() => setOver(false)}
    >
      <legend>{words.document}</legend>
      <p className={css.name}>
        {file ? (
          <>
            <bdi>{file.name}</bdi> <Muted>{bytes(file.size)}</Muted>
          </>
        ) : (
          <Muted>{words.fileHint}</Muted>
        )}
      </p>
      <input
        ref={input}
        type="file"
        hidden
        data-upload
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          if (chosen) onChange(chosen);
          currentTarget.value = '';
        }}
      />
      <Button
        small
        disabledReason={disabledReason}
        data-invalid={error ? true : undefined}
        onClick={() => input.current?.click()}
      >
        {file ? words.chooseAnother : words.chooseFile}
      </Button>
      {error && (
        <p className={css.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
};
