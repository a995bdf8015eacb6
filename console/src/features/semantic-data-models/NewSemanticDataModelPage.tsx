import { useState } from 'react';
import { useOperation, usePermission } from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  ButtonLink,
  EmptyState,
  Loaded,
  optionsOf,
  Page,
  permissionReason,
  Segmented,
  Select,
} from '../../ui/index.ts';
import { ImportForm } from './ImportForm.tsx';
import { ScaffoldForm } from './ScaffoldForm.tsx';
import type { newSemanticDataModelSearch } from './search.ts';

type From = keyof typeof words.froms;
const froms = optionsOf(words.froms);

export const NewSemanticDataModelPage = () => {
  const { search, replace } = useUrlState<ReturnType<typeof newSemanticDataModelSearch>>();
  const reason = permissionReason(usePermission('createSemanticDataModel'));
  const got = useOperation('listDataConnections', {}, { query: { limit: 100 } });
  const [from, setFrom] = useState<From>('tables');
  return (
    <Page
      title={pages.newSemanticDataModel}
      crumbs={[{ label: pages.semanticDataModels, href: to('/semantic-data-models') }]}
    >
      <Loaded got={got} operation="listDataConnections">
        {({ data }) => {
          const only = data.length === 1 ? data[0]!.id : null;
          const connection = data.find(({ id }) => id === (search.connection ?? only)) ?? null;
          if (data.length === 0) {
            return (
              <EmptyState
                sentence={words.noConnections}
                action={
                  <ButtonLink kind="primary" href={to('/data-connections/new')}>
                    {pages.newDataConnection}
                  </ButtonLink>
                }
              />
            );
          }
          const choices = (
            <>
              <Segmented label={words.from} value={from} options={froms} onChange={setFrom} />
              <Select
                label={words.connection}
                value={connection?.id ?? null}
                options={data.map(({ id, name }) => ({ value: id, label: name }))}
                onChange={(id) => replace({ connection: id ?? undefined })}
                disabledReason={reason}
              />
            </>
          );
          return from === 'tables' ? (
            <ScaffoldForm key={connection?.id} connection={connection} disabledReason={reason}>
              {choices}
            </ScaffoldForm>
          ) : (
            <ImportForm connection={connection} disabledReason={reason}>
              {choices}
            </ImportForm>
          );
        }}
      </Loaded>
    </Page>
  );
};
