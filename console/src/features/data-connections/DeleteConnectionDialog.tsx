import { useNavigate } from '@tanstack/react-router';
import { path, request, useAction, useGet, useInvalidate, usePermission } from '../../api/index.ts';
import type { PublicDataConnection, SemanticDataModelPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { ActionDialog, LinkList, notify } from '../../ui/index.ts';

/** Asks before a connection is deleted, and names the semantic data models that keep it from being deleted. */
export const DeleteConnectionDialog = ({
  connection,
  etag,
  onClose,
}: {
  connection: PublicDataConnection;
  etag: string | null;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const { allowed } = usePermission('listSemanticDataModels');
  const used = useGet<SemanticDataModelPage>('/api/v2/semantic-data-models', {
    query: { data_connection_id: connection.id, limit: 20 },
    enabled: allowed,
  }).data;
  const action = useAction(async () => {
    try {
      await request('DELETE', path`/api/v2/data-connections/${connection.id}`, { ifMatch: etag });
    } catch (refusal) {
      // What keeps it may be new since the dialog was opened.
      await invalidate('/api/v2/semantic-data-models', '/api/v2/data-connections');
      throw refusal;
    }
    notify(words.deleted);
    await navigate({ to: to.dataConnections() });
    await invalidate('/api/v2/data-connections');
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
        <b>{connection.name}</b>
      </p>
      <p>{words.deleteText}</p>
      {used && used.data.length > 0 && (
        <>
          <p>{words.deleteUsed(used.data.length, used.has_more)}</p>
          <LinkList
            links={used.data.map(({ id, name }) => ({ href: to.semanticDataModel(id), label: name }))}
            more={used.has_more ? words.more : null}
          />
        </>
      )}
    </ActionDialog>
  );
};
