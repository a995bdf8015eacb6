import { useNavigate } from '@tanstack/react-router';
import { path, request, useAction, useInvalidate } from '../../api/index.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { ActionDialog, notify } from '../../ui/index.ts';
import { UsedBy } from './UsedBy.tsx';

/** Asks before a configuration is deleted, and names the agents that keep it from being deleted. */
export const DeleteLlmDialog = ({
  llm,
  etag,
  onClose,
}: {
  llm: UsedLlmConfiguration;
  etag: string | null;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const { is_default, used_by } = llm;
  const action = useAction(async () => {
    try {
      await request('DELETE', path`/api/v2/llm-configurations/${llm.id}`, { ifMatch: etag });
    } catch (refusal) {
      // What keeps it may be new since the page was loaded.
      await invalidate('/app/api/llm-configurations');
      throw refusal;
    }
    notify(words.deleted);
    await navigate({ to: to.llmConfigurations() });
    await invalidate('/app/api/llm-configurations', '/api/v2/llm-configurations');
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.deleteTitle}
      kind="danger"
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{llm.name}</b>
      </p>
      <p>{words.deleteText}</p>
      {is_default && <p>{words.deleteDefault}</p>}
      {used_by.total > 0 && (
        <>
          <p>{words.deleteUsed(used_by.total)}</p>
          <UsedBy used_by={used_by} />
        </>
      )}
    </ActionDialog>
  );
};
