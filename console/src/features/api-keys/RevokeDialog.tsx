import { perform, useAction, useMe } from '../../api/index.ts';
import type { NamedApiKey } from '../../api/types.gen.ts';
import { useEndingKeys } from '../../resource/index.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { endingKeys } from '../../text/en/ending-keys.ts';
import { Time } from '../../time/index.ts';
import { ActionDialog, notify, Words } from '../../ui/index.ts';

export const RevokeDialog = ({ apiKey, onClose }: { apiKey: NamedApiKey; onClose: () => void }) => {
  const { key_id } = useMe();
  const { part, endMadeKeys, disabledReason } = useEndingKeys(apiKey.id, {
    own: null,
    made: endingKeys.madeByKey,
    // Its replacement has them.
    byDefault: apiKey.replaced_by === null,
  });
  const action = useAction(async () => {
    await perform('deleteApiKey', { api_key_id: apiKey.id }, { query: { end_made_keys: endMadeKeys } });
    notify(words.revoked);
    onClose();
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.revoke}
      kind="danger"
      act={action}
      disabledReason={disabledReason}
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
      {part}
      {key_id === apiKey.id && <p>{words.revokeOwn}</p>}
    </ActionDialog>
  );
};
