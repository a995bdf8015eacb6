import { useState } from 'react';
import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { Price } from '../../api/types.gen.ts';
import { DeleteDialog, useLlmOptions } from '../../resource/index.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { prices as words } from '../../text/en/prices.ts';
import {
  Box,
  Button,
  curlOf,
  EmptyState,
  Loaded,
  Page,
  Pager,
  Section,
  Table,
  useDisabledReason,
} from '../../ui/index.ts';
import { columnsOf } from './columns.tsx';
import { EndPriceDialog } from './EndPriceDialog.tsx';
import { MissingPrices } from './MissingPrices.tsx';
import { type FirstPrice, NewPriceDialog } from './NewPriceDialog.tsx';
import type { pricesSearch } from './search.ts';

const nothing: FirstPrice = { model: '', llm_id: null };
const most = 200;
const example = { model: 'house-*', rates: { input: 0.5, output: 2 } };

const aboveOf = ({ above }: Price): string[] => (above ? [words.above(above.input_tokens)] : []);

export const PricesPage = () => {
  const { search } = useUrlState<ReturnType<typeof pricesSearch>>();
  const list = { every: listPolling(false), keepPrevious: true };
  const own = useOperation('listPrices', {}, { query: { source: 'own', next: search.next }, ...list });
  const catalogue = useOperation('listPrices', {}, { query: { source: 'catalogue', limit: most }, ...list });
  const pager = useCursor(own.data?.next);
  const base = useBaseUrl();
  const missing = useOperation('listUnpricedModels', {}, { every: listPolling(false) }).data?.data ?? [];
  const llms = useLlmOptions([...missing, ...(own.data?.data ?? [])].some(({ llm_id }) => llm_id !== null));
  const mayCreate = useDisabledReason('createPrice');
  const mayEnd = useDisabledReason('updatePrice');
  const mayDelete = useDisabledReason('deletePrice');
  const [creating, setCreating] = useState<FirstPrice | null>(null);
  const [ending, setEnding] = useState<Price | null>(null);
  const [deleting, setDeleting] = useState<Price | null>(null);
  const nameOf = (llmId: string): string =>
    llms.options.find(({ value }) => value === llmId)?.label ?? words.deletedLlm;
  const ownColumns = columnsOf((price) =>
    [price.llm_id === null ? words.allLlms : nameOf(price.llm_id), ...aboveOf(price)].join(' · '),
  );
  const create = (
    <Button kind="primary" disabledReason={mayCreate} onClick={() => setCreating(nothing)}>
      {words.newPrice}
    </Button>
  );
  return (
    <Page title={pages.prices} lead={words.lead} actions={create}>
      <MissingPrices rows={missing} nameOf={nameOf} onSet={setCreating} disabledReason={mayCreate} />
      <Section title={words.own}>
        <Loaded got={own} operation="listPrices">
          {({ data }) => (
            <Box>
              <Table
                label={words.own}
                rows={data}
                columns={ownColumns}
                rowKey={({ id }) => id}
                name={({ model }) => model}
                actions={(price) => [
                  { label: words.endPrice, onSelect: () => setEnding(price), disabledReason: mayEnd },
                  {
                    label: words.deletePrice,
                    danger: true,
                    onSelect: () => setDeleting(price),
                    disabledReason: mayDelete,
                  },
                ]}
                nothing={
                  <EmptyState
                    sentence={words.noOwn}
                    curl={curlOf(base, 'createPrice', {}, { body: example })}
                  />
                }
              />
            </Box>
          )}
        </Loaded>
        <Pager {...pager} />
      </Section>
      <Section title={words.catalogue} note={words.catalogueNote}>
        <Loaded got={catalogue} operation="listPrices">
          {({ data, has_more }) => (
            <>
              <Box>
                <Table
                  label={words.catalogue}
                  rows={data}
                  columns={columnsOf((price) => aboveOf(price).join())}
                  rowKey={({ id }) => id}
                  name={({ model }) => model}
                  nothing={<EmptyState sentence={words.noCatalogue} />}
                />
              </Box>
              {has_more && <p>{words.onlyNewest(most)}</p>}
            </>
          )}
        </Loaded>
      </Section>
      {creating && <NewPriceDialog first={creating} onClose={() => setCreating(null)} />}
      {ending && <EndPriceDialog price={ending} onClose={() => setEnding(null)} />}
      {deleting && (
        <DeleteDialog
          operation="deletePrice"
          params={{ price_id: deleting.id }}
          title={words.deletePrice}
          name={deleting.model}
          deleted={words.deleted}
          onClose={() => setDeleting(null)}
        >
          <p>{words.deleteText}</p>
        </DeleteDialog>
      )}
    </Page>
  );
};
