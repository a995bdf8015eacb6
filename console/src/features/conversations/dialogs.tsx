import { useForm } from '../../api/form.ts';
import { perform } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { ActionDialog, notify, TextField } from '../../ui/index.ts';
import type { ConversationParams } from './params.ts';

interface DialogProps {
  params: ConversationParams;
  conversation: ConversationDetail;
  onClose: () => void;
}

export const RenameDialog = ({ params, conversation, onClose }: DialogProps) => {
  const form = useForm({ name: conversation.name ?? '' }, async ({ name }) => {
    await perform('updateConversation', params, { body: { name: name.trim() || null }, ifMatch: null });
    notify(words.renamed);
    onClose();
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

export const DeleteConversationDialog = ({ params, conversation, onClose }: DialogProps) => (
  <DeleteDialog
    operation="deleteConversation"
    params={params}
    title={words.remove}
    name={conversation.name || words.untitled}
    deleted={words.removed}
    opens={to('/agents/$agentId', { agentId: params.agent_id }, { tab: 'conversations' })}
    onClose={onClose}
  >
    <p>{words.removeText(conversation.message_count)}</p>
    {conversation.status === 'running' && <p>{words.removeRunning}</p>}
  </DeleteDialog>
);
