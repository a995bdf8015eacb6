import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { ListedCase, PublicDataset } from '../../api/types.gen.ts';
import { valueText } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import {
  Box,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  Muted,
  NothingMatches,
  OutcomeTag,
  optionsOf,
  Pager,
  Table,
  Tag,
  TwoLines,
} from '../../ui/index.ts';
import css from './evaluations.module.css';
import type { datasetSearch } from './search.ts';

const short = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 140);

const columns: readonly Column<ListedCase>[] = [
  {
    key: 'name',
    title: words.case,
    width: '44%',
    cell: ({ name, input }) => (
      <TwoLines below={<span className={css.clip}>{short(input.message)}</span>}>{name}</TwoLines>
    ),
  },
  {
    key: 'expected',
    title: words.expected,
    phone: 'below',
    cell: ({ expected }) =>
      expected === null ? (
        <Muted>{words.nothingExpected}</Muted>
      ) : (
        <span className={css.clip}>{short(valueText(expected))}</span>
      ),
  },
  {
    key: 'tags',
    title: words.tags,
    phone: 'below',
    cell: ({ tags }) => tags.map((tag) => <Tag key={tag}>{tag}</Tag>),
  },
  {
    key: 'recording',
    title: words.recording,
    cell: ({ has_tape, source, enabled }) => (
      <TwoLines below={has_tape && source ? words.recordedFrom(source.agent_version) : undefined}>
        <OutcomeTag kind={enabled ? (has_tape ? 'on-time' : 'due') : 'skipped'}>
          {enabled ? (has_tape ? words.recorded : words.notRecorded) : words.off}
        </OutcomeTag>
      </TwoLines>
    ),
  },
];

const filters = ['q', 'tag', 'enabled'] as const;

export const CasesTab = ({ dataset }: { dataset: PublicDataset }) => {
  const { search, set, replace, clear, count } = useUrlState<ReturnType<typeof datasetSearch>>();
  const { q, tag, enabled, next } = search;
  const params = { dataset_id: dataset.id };
  const got = useOperation('listCases', params, {
    query: { q, tag, enabled, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const chosen = count(filters);
  const curl = curlOf(useBaseUrl(), 'createCase', params, {
    body: { input: { message: 'Add up the invoices.' }, expected: '480' },
  });
  return (
    <>
      {(dataset.case_count > 0 || chosen > 0) && (
        <FilterBar set={chosen} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} onChange={(text) => replace({ q: text })} />
          <FilterChoice
            label={words.enabled}
            value={enabled ? [enabled] : []}
            options={optionsOf(words.filterOff)}
            onChange={([value]) => set({ enabled: value as typeof enabled })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listCases">
        {({ data }) => (
          <Box>
            <Table
              label={words.datasetTabs.cases}
              rows={data}
              columns={columns}
              rowKey={({ id }) => id}
              name={({ name }) => name}
              href={({ id }) =>
                to('/evaluations/datasets/$datasetId/cases/$caseId', { datasetId: dataset.id, caseId: id })
              }
              nothing={
                chosen > 0 ? (
                  <NothingMatches what={words.whatCases} filters={chosen} onClear={() => clear(filters)} />
                ) : (
                  <EmptyState sentence={words.noCases} curl={curl} />
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
