import { useNavigate } from '@tanstack/react-router';
import { path, request, useAction, useInvalidate } from '../../api/index.ts';
import type { UsedToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { ActionDialog, notify } from '../../ui/index.ts';
import { UsedBy } from './UsedBy.tsx';

/** Asks before a tool server is deleted, and names the agents that keep it from being deleted. */
export const DeleteServerDialog = ({
  server,
  etag,
  onClose,
}: {
  server: UsedToolServer;
  etag: string | null;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const { total } = server.used_by;
  const action = useAction(async () => {
    try {
      await request('DELETE', path`/api/v2/tool-servers/${server.id}`, { ifMatch: etag });
    } catch (refusal) {
      // What keeps it may be new since the page was loaded.
      await invalidate('/app/api/tool-servers');
      throw refusal;
    }
    notify(words.deleted);
    await navigate({ to: to.toolServers() });
    await invalidate('/app/api/tool-servers', '/api/v2/tool-servers');
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
        <b>{server.name}</b>
      </p>
      <p>{words.deleteText}</p>
      {total > 0 && (
        <>
          <p>{words.deleteUsed(total)}</p>
          <UsedBy used_by={server.used_by} />
        </>
      )}
    </ActionDialog>
  );
};
