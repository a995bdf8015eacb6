import { listPolling, urlOf, useMe, usePermission } from '../../api/index.ts';
import type { ExtractionSummary } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { pages } from '../../text/en/pages.ts';
import { bytes } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { ButtonLink, type Column, TwoLines } from '../../ui/index.ts';
import { StateTag } from './StateTag.tsx';

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

/** It needs no file: the text is in the command. */
const command = (baseUrl: string): string =>
  [
    `curl ${urlOf(baseUrl, 'createExtraction', {})} -H "Authorization: Bearer $KEY"`,
    `-F 'schema={"type":"object","properties":{"total":{"type":"number"}}}'`,
    `-F 'file=Total: 12.50;filename=invoice.txt'`,
  ].join(' \\\n  ');

export const ExtractionsPage = () => {
  const { extraction_retention_hours } = useMe().limits;
  const { allowed: mayConfigure } = usePermission('getDocumentIntelligence');
  return (
    <ListPage
      title={pages.extractions}
      words={{ lead: `${words.lead} ${words.kept(extraction_retention_hours)}`, empty: words.empty }}
      operation="listExtractions"
      every={listPolling(true)}
      columns={columns}
      name={({ file }) => file.name}
      href={({ id }) => to('/extractions/$extractionId', { extractionId: id })}
      create={{ label: pages.newExtraction, operation: 'createExtraction', href: to('/extractions/new') }}
      command={command}
      actions={
        mayConfigure && (
          <ButtonLink kind="quiet" href={to('/document-intelligence')}>
            {words.reader}
          </ButtonLink>
        )
      }
    />
  );
};
