import type { UsedToolServer } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, OutcomeTag, Tag, TwoLines, Words } from '../../ui/index.ts';
import { kindOf, waitingOf } from './sentences.tsx';

const LastTest = ({ at, error }: { at: string; error: string | null }) =>
  error === null ? (
    <Time at={at} form="relative" />
  ) : (
    <Words text={words.failedAt} at={<Time at={at} form="relative" />} error={error} />
  );

const columns: readonly Column<UsedToolServer>[] = [
  {
    key: 'name',
    title: common.name,
    width: '30%',
    cell: ({ name, url, command }) => <TwoLines below={url ?? command}>{name}</TwoLines>,
  },
  {
    key: 'transport',
    title: words.transport,
    phone: 'hide',
    cell: ({ transport }) => words.transports[transport],
  },
  {
    key: 'tools',
    title: words.tools,
    phone: 'below',
    cell: (row) => (
      <>
        {words.countOf(row.tool_count)}{' '}
        {waitingOf(row) > 0 && <Tag kind="late">{words.changes(row.changed_count, row.new_count)}</Tag>}
      </>
    ),
  },
  {
    key: 'test',
    title: words.lastTest,
    width: '26%',
    phone: 'below',
    cell: (row) => (
      <TwoLines below={row.last_checked_at && <LastTest at={row.last_checked_at} error={row.last_error} />}>
        <OutcomeTag kind={row.enabled ? kindOf[row.state] : 'skipped'}>
          {row.enabled ? words.states[row.state] : words.off}
        </OutcomeTag>
      </TwoLines>
    ),
  },
  {
    key: 'used',
    title: words.usedBy,
    phone: 'hide',
    cell: ({ used_by: { total } }) => (total > 0 ? words.agents(total) : <Muted>{words.noAgents}</Muted>),
  },
];

export const ToolServersPage = () => (
  <ListPage
    title={pages.toolServers}
    words={words}
    operation="listUsedToolServers"
    filters={[{ name: 'q' }]}
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/tool-servers/$toolServerId', { toolServerId: id })}
    create={{ label: words.newServer, operation: 'createToolServer', href: to('/tool-servers/new') }}
    example={[
      'createToolServer',
      { name: 'Ledger', url: 'https://ledger.example.com/mcp', headers: { 'x-key': 'secret' } },
    ]}
  />
);
