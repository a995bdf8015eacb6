import { path, request, useAction, useInvalidate, useMe } from '../../api/index.ts';
import type { NamedApiKey } from '../../api/types.gen.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { Time } from '../../time/index.ts';
import { ActionDialog, notify, Words } from '../../ui/index.ts';

/** Asks before a key is revoked, and says when it was last used. */
export const RevokeDialog = ({ apiKey, onClose }: { apiKey: NamedApiKey; onClose: () => void }) => {
  const invalidate = useInvalidate();
  const { key_id } = useMe();
  const action = useAction(async () => {
    await request('DELETE', path`/api/v2/api-keys/${apiKey.id}`);
    notify(words.revoked);
    onClose();
    await invalidate('/app/api/api-keys', '/app/api/me');
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.revoke}
      kind="danger"
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{apiKey.name}</b> <code>{`${apiKey.prefix}…`}</code>
      </p>
      <p>
        {apiKey.last_used_at ? (
          <Words text={words.revokeUsed} at={<Time at={apiKey.last_used_at} form="relative" />} />
        ) : (
          words.revokeUnused
        )}{' '}
        {words.revokeText}
      </p>
      {key_id === apiKey.id && <p>{words.revokeOwn}</p>}
    </ActionDialog>
  );
};
