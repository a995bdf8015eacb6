import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { channelsSearch } from './search.ts';

export const channelsPages = [
  page({
    path: '/channels',
    search: channelsSearch,
    operation: 'listChannels',
    first: readList('listChannels'),
    component: [() => import('./ChannelsPage.tsx'), 'ChannelsPage'],
  }),
  page({
    path: '/channels/new',
    search: noSearch,
    operation: 'createChannel',
    component: [() => import('./NewChannelPage.tsx'), 'NewChannelPage'],
  }),
  page({
    path: '/channels/$channelId',
    search: noSearch,
    operation: 'getChannel',
    first: ({ params: { channelId } }) => [readOf('getChannel', { channel_id: channelId })],
    component: [() => import('./ChannelPage.tsx'), 'ChannelPage'],
  }),
] as const;
