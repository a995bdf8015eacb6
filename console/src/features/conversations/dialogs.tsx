import { useForm } from '../../api/form.ts';
import { request, useInvalidate } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { ActionDialog, notify, TextField } from '../../ui/index.ts';
import { detailPath, listPath, type Of, publicPath } from './paths.ts';

interface DialogProps {
  of: Of;
  conversation: ConversationDetail;
  onClose: () => void;
}

/** Gives a conversation another name. */
export const RenameDialog = ({ of, conversation, onClose }: DialogProps) => {
  const invalidate = useInvalidate();
  const form = useForm({ name: conversation.name ?? '' }, async ({ name }) => {
    await request('PATCH', publicPath(of), { body: { name: name.trim() || null } });
    notify(words.renamed);
    onClose();
    await invalidate(detailPath(of), listPath(of.agentId));
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.renameTitle}
      action={words.rename}
      onConfirm={() => void form.submit()}
      busy={form.busy}
      error={form.error}
    >
      <TextField label={common.name} {...form.field('name')} hint={words.renameHint} autoFocus />
    </ActionDialog>
  );
};

/** Asks before a conversation is deleted. */
export const DeleteConversationDialog = ({ of, conversation, onClose }: DialogProps) => (
  <DeleteDialog
    path={publicPath(of)}
    title={words.remove}
    name={conversation.name || words.untitled}
    deleted={words.removed}
    opens={to.agent(of.agentId, { tab: 'conversations' })}
    invalidates={[listPath(of.agentId), '/app/api/agents']}
    onClose={onClose}
  >
    <p>{words.removeText(conversation.message_count)}</p>
    {conversation.status === 'running' && <p>{words.removeRunning}</p>}
  </DeleteDialog>
);
