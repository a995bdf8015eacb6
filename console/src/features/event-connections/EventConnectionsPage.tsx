import type { PublicEventConnection } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { eventConnections as words } from '../../text/en/event-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { type Column, curlOf, optionsOf, TwoLines } from '../../ui/index.ts';
import { serversOf } from './form.ts';

const columns: readonly Column<PublicEventConnection>[] = [
  {
    key: 'name',
    title: common.name,
    width: '34%',
    cell: ({ name, kind }) => <TwoLines below={words.kinds[kind]}>{name}</TwoLines>,
  },
  {
    key: 'where',
    title: words.where,
    phone: 'below',
    cell: (row) => {
      const [first, ...others] = serversOf(row);
      return (
        <TwoLines below={others.length > 0 && words.more(others.length)}>
          <code>{first}</code>
        </TwoLines>
      );
    },
  },
  {
    key: 'changed',
    title: words.changed,
    width: '20%',
    phone: 'hide',
    cell: ({ updated_at }) => <Time at={updated_at} form="relative" />,
  },
];

const example = (base: string): string =>
  curlOf(
    base,
    'createEventConnection',
    {},
    {
      body: { kind: 'nats', name: 'Orders', settings: { servers: ['nats.example.com:4222'] } },
    },
  );

export const EventConnectionsPage = () => (
  <ListPage
    title={pages.eventConnections}
    words={words}
    operation="listEventConnections"
    filters={[{ name: 'kind', label: words.kind, options: optionsOf(words.kinds) }]}
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/event-connections/$eventConnectionId', { eventConnectionId: id })}
    create={{
      label: words.newConnection,
      operation: 'createEventConnection',
      href: to('/event-connections/new'),
    }}
    command={example}
  />
);
