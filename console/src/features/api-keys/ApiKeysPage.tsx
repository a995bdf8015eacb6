import { useState } from 'react';
import type { NamedApiKey } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { pages } from '../../text/en/pages.ts';
import { optionsOf, useDisabledReason } from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { NewKeyDialog } from './NewKeyDialog.tsx';
import { RevokeDialog } from './RevokeDialog.tsx';
import { RotateDialog } from './RotateDialog.tsx';
import type { apiKeysSearch } from './search.ts';

/** The keys that the person may manage: their own, or all for an administrator. */
export const ApiKeysPage = () => {
  const { search, replace } = useUrlState<ReturnType<typeof apiKeysSearch>>();
  const mayRotate = useDisabledReason('rotateApiKey');
  const mayDelete = useDisabledReason('deleteApiKey');
  const [revoking, setRevoking] = useState<NamedApiKey | null>(null);
  const [rotating, setRotating] = useState<NamedApiKey | null>(null);
  return (
    <ListPage
      title={pages.apiKeys}
      words={words}
      operation="listNamedApiKeys"
      filters={[
        { name: 'q' },
        { name: 'kind', label: words.kind, options: optionsOf(words.kinds) },
        { name: 'status', label: words.status, options: optionsOf(words.statuses) },
        { name: 'owner', label: words.owner, options: optionsOf({ workspace: words.owners.workspace }) },
      ]}
      columns={columns}
      name={({ name }) => name}
      menu={(key) => [
        {
          label: words.rotate,
          onSelect: () => setRotating(key),
          disabledReason: mayRotate ?? (key.replaced_by ? words.replaced : null),
        },
        { label: words.revoke, danger: true, onSelect: () => setRevoking(key), disabledReason: mayDelete },
      ]}
      create={{ label: words.newKey, operation: 'createApiKey', onClick: () => replace({ new: '1' }) }}
      example={['createApiKey', { name: 'Nightly export', role: 'member' }]}
    >
      {search.new && <NewKeyDialog onClose={() => replace({ new: undefined })} />}
      {rotating && <RotateDialog apiKey={rotating} onClose={() => setRotating(null)} />}
      {revoking && <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </ListPage>
  );
};
