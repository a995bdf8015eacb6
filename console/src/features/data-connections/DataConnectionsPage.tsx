import type { PublicDataConnection } from '../../api/types.gen.ts';
import { dataConnectionExample, ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { type Column, OutcomeTag, optionsOf, Tag, TwoLines, Words } from '../../ui/index.ts';
import { placeOf } from './form.ts';
import { kindOf } from './sentences.tsx';

const LastTry = ({ status: { state, checked_at, detail } }: Pick<PublicDataConnection, 'status'>) => {
  const at = checked_at && <Time at={checked_at} form="relative" />;
  return (
    <TwoLines
      below={at && (state === 'unreachable' ? <Words text={words.failedAt} at={at} detail={detail} /> : at)}
    >
      <OutcomeTag kind={kindOf[state]}>{words.states[state]}</OutcomeTag>
    </TwoLines>
  );
};

const columns: readonly Column<PublicDataConnection>[] = [
  {
    key: 'name',
    title: common.name,
    width: '28%',
    cell: ({ name, description }) => <TwoLines below={description}>{name}</TwoLines>,
  },
  {
    key: 'where',
    title: words.where,
    width: '28%',
    phone: 'below',
    cell: (row) => <TwoLines below={placeOf(row)}>{words.engines[row.engine]}</TwoLines>,
  },
  {
    key: 'try',
    title: words.lastTry,
    width: '26%',
    phone: 'below',
    cell: ({ status }) => <LastTry status={status} />,
  },
  {
    key: 'tags',
    title: words.tags,
    phone: 'hide',
    cell: ({ tags }) =>
      tags.map((tag) => (
        <span key={tag}>
          <Tag>{tag}</Tag>{' '}
        </span>
      )),
  },
];

export const DataConnectionsPage = () => (
  <ListPage
    title={pages.dataConnections}
    words={words}
    operation="listDataConnections"
    filters={[
      { name: 'q', sentAs: 'name', placeholder: words.nameBegins },
      { name: 'engine', label: words.engine, options: optionsOf(words.engines) },
    ]}
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/data-connections/$dataConnectionId', { dataConnectionId: id })}
    create={{
      label: words.newConnection,
      operation: 'createDataConnection',
      href: to('/data-connections/new'),
    }}
    command={dataConnectionExample}
  />
);
