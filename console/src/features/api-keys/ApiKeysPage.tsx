import { useState } from 'react';
import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { NamedApiKey, NamedApiKeyPage } from '../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  Button,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  NothingMatches,
  Page,
  Pager,
  permissionReason,
  Table,
} from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { NewKeyDialog } from './NewKeyDialog.tsx';
import { RevokeDialog } from './RevokeDialog.tsx';
import { RotateDialog } from './RotateDialog.tsx';
import type { apiKeysSearch } from './search.ts';

const filters = ['q', 'kind', 'status'] as const;
const optionsOf = (words: Record<string, string>) =>
  Object.entries(words).map(([value, label]) => ({ value, label }));

/** The keys that the person may manage: their own, or all for an administrator. */
export const ApiKeysPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof apiKeysSearch>>();
  const { q, kind, status, next } = search;
  const got = useGet<NamedApiKeyPage>('/app/api/api-keys', {
    query: { q, kind, status, next },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createApiKey'));
  const mayRotate = permissionReason(usePermission('rotateApiKey'));
  const mayDelete = permissionReason(usePermission('deleteApiKey'));
  const [revoking, setRevoking] = useState<NamedApiKey | null>(null);
  const [rotating, setRotating] = useState<NamedApiKey | null>(null);
  const newKey = (
    <Button kind="primary" disabledReason={mayCreate} onClick={() => set({ new: '1' })}>
      {words.newKey}
    </Button>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0;
  return (
    <Page title={pages.apiKeys} lead={words.lead} actions={!empty && newKey}>
      <FilterBar set={count(filters)} onClear={() => clear(filters)}>
        <FilterText value={q ?? ''} onChange={(q) => set({ q })} />
        <FilterChoice
          label={words.kind}
          value={kind ? [kind] : []}
          options={optionsOf(words.kinds)}
          onChange={([kind]) => set({ kind })}
        />
        <FilterChoice
          label={words.status}
          value={status ? [status] : []}
          options={optionsOf(words.statuses)}
          onChange={([status]) => set({ status })}
        />
      </FilterBar>
      <Loaded got={got} operation="listNamedApiKeys">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.apiKeys}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                actions={(key) => [
                  {
                    label: words.rotate,
                    onSelect: () => setRotating(key),
                    disabledReason: mayRotate ?? (key.replaced_by ? words.replaced : null),
                  },
                  {
                    label: words.revoke,
                    danger: true,
                    onSelect: () => setRevoking(key),
                    disabledReason: mayDelete,
                  },
                ]}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={newKey}
                curl={curlOf(base, 'POST', '/api-keys', { name: 'Nightly export', role: 'member' })}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      {search.new && <NewKeyDialog onClose={() => set({ new: undefined })} />}
      {rotating && <RotateDialog apiKey={rotating} onClose={() => setRotating(null)} />}
      {revoking && <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
};
