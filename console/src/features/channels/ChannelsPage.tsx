import type { Channel } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { channels as words } from '../../text/en/channels.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { ButtonLink, type Column, Muted, optionsOf, TwoLines } from '../../ui/index.ts';
import { placeOf, StateTag } from './state.tsx';

const columns: readonly Column<Channel>[] = [
  {
    key: 'name',
    title: common.name,
    width: '36%',
    cell: (channel) => (
      <TwoLines below={[words.kinds[channel.kind], placeOf(channel)].filter(Boolean).join(' · ')}>
        {channel.name}
      </TwoLines>
    ),
  },
  {
    key: 'state',
    title: words.state,
    width: '38%',
    phone: 'below',
    cell: (channel) => (
      <TwoLines below={channel.state === 'failing' && channel.last_error}>
        <StateTag channel={channel} />
      </TwoLines>
    ),
  },
  {
    key: 'success',
    title: words.lastSuccess,
    phone: 'hide',
    cell: ({ last_success_at }) =>
      last_success_at ? <Time at={last_success_at} form="relative" /> : <Muted>{words.never}</Muted>,
  },
];

export const ChannelsPage = () => (
  <ListPage
    title={pages.channels}
    words={words}
    operation="listChannels"
    filters={[{ name: 'kind', label: words.kind, options: optionsOf(words.kinds) }]}
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/channels/$channelId', { channelId: id })}
    actions={<ButtonLink href="/routes">{words.routes}</ButtonLink>}
    create={{ label: words.newChannel, operation: 'createChannel', href: to('/channels/new') }}
    example={['createChannel', { kind: 'webhook', name: 'Duty', url: 'https://duty.example.com/alerts' }]}
  />
);
