import { listPolling, useBaseUrl, useGet, useMe, usePermission } from '../../api/index.ts';
import type { ExtractionPage, ExtractionSummary } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { pages } from '../../text/en/pages.ts';
import { bytes } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  Loaded,
  Page,
  Pager,
  permissionReason,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { StateTag } from './StateTag.tsx';
import type { extractionsSearch } from './search.ts';

const isOpen = ({ finished_at }: ExtractionSummary): boolean => finished_at === null;

const columns: readonly Column<ExtractionSummary>[] = [
  {
    key: 'document',
    title: words.document,
    width: '42%',
    cell: ({ file }) => (
      <TwoLines
        below={[file.pages === null ? null : words.pages(file.pages), bytes(file.size_bytes)]
          .filter(Boolean)
          .join(', ')}
      >
        <bdi>{file.name}</bdi>
      </TwoLines>
    ),
  },
  {
    key: 'status',
    title: words.status,
    cell: (row) => (
      <TwoLines below={row.error?.message}>
        <StateTag extraction={row} />
      </TwoLines>
    ),
  },
  {
    key: 'provider',
    title: words.readBy,
    phone: 'hide',
    cell: ({ provider }) => words.providers[provider as keyof typeof words.providers] ?? provider,
  },
  {
    key: 'started',
    title: words.started,
    phone: 'below',
    cell: ({ created_at }) => <Time at={created_at} form="relative" />,
  },
  {
    key: 'expires',
    title: words.expires,
    phone: 'hide',
    cell: ({ expires_at }) => expires_at && <Time at={expires_at} form="relative" />,
  },
];

const example = {
  file: { agent_id: 'AGENT_ID', conversation_id: 'CONVERSATION_ID', file_id: 'FILE_ID' },
  schema: { type: 'object', properties: { total: { type: 'number' } } },
};

/** The extractions that the person made and that are still kept. */
export const ExtractionsPage = () => {
  const { next } = useUrlState<ReturnType<typeof extractionsSearch>>().search;
  const seen = useGet<ExtractionPage>('/api/v2/extractions', {
    query: { next, limit: 50 },
    keepPrevious: true,
    every: listPolling(false),
  });
  const open = seen.data?.data.some(isOpen) ?? false;
  // The same data, more often while one works.
  useGet<ExtractionPage>('/api/v2/extractions', {
    query: { next, limit: 50 },
    every: listPolling(true),
    enabled: open,
  });
  const pager = useCursor(seen.data?.next);
  const base = useBaseUrl();
  const { extraction_retention_hours } = useMe().limits;
  const mayCreate = permissionReason(usePermission('createExtraction'));
  const { allowed: mayConfigure } = usePermission('getDocumentIntelligence');
  const create = (
    <ButtonLink kind="primary" href={to.newExtraction()} disabledReason={mayCreate}>
      {pages.newExtraction}
    </ButtonLink>
  );
  const empty = seen.data?.data.length === 0 && next === undefined;
  return (
    <Page
      title={pages.extractions}
      lead={`${words.lead} ${words.kept(extraction_retention_hours)}`}
      actions={
        <>
          {mayConfigure && (
            <ButtonLink kind="quiet" href={to.documentIntelligence()}>
              {words.reader}
            </ButtonLink>
          )}
          {!empty && create}
        </>
      }
    >
      <Loaded got={seen} operation="listExtractions">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.extractions}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ file }) => file.name}
                href={({ id }) => to.extraction(id)}
              />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/document-intelligence/extract', example)}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
