import { useOperation } from '../../api/index.ts';
import type { Route } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { routes as words } from '../../text/en/routes.ts';
import { number } from '../../text/index.ts';
import { type Column, OutcomeTag, TwoLines } from '../../ui/index.ts';

const aboutOf = ({ for: purpose, match }: Route): string => {
  const kinds = (match.kinds ?? []) as string[];
  const names: Record<string, string> = purpose === 'reviews' ? words.reviewKinds : words.alertKinds;
  return [
    words.fors[purpose],
    ...(match.agent_ids ? [words.countOf(match.agent_ids.length)] : []),
    ...kinds.map((kind) => names[kind] ?? kind),
  ].join(' · ');
};

const Channels = ({ route }: { route: Route }) => {
  const got = useOperation('listChannels', {}, { query: { limit: 100 }, staleTime: 30_000 });
  if (!got.data) return null;
  const names = new Map(got.data.data.map(({ id, name }) => [id, name]));
  const ids = [...new Set(route.steps.map(({ channel_id }) => channel_id))];
  return words.goesTo(ids.map((id) => names.get(id) ?? words.deletedChannel));
};

const columns: readonly Column<Route>[] = [
  {
    key: 'name',
    title: words.name,
    width: '44%',
    cell: (route) => <TwoLines below={aboutOf(route)}>{route.name}</TwoLines>,
  },
  {
    key: 'channels',
    title: pages.channels,
    width: '30%',
    phone: 'below',
    cell: (route) => <Channels route={route} />,
  },
  { key: 'position', title: words.position, phone: 'hide', cell: ({ position }) => number(position) },
  {
    key: 'state',
    title: words.state,
    cell: ({ enabled }) => (
      <OutcomeTag kind={enabled ? 'on-time' : 'skipped'}>{enabled ? words.on : words.off}</OutcomeTag>
    ),
  },
];

export const RoutesPage = () => (
  <ListPage
    title={pages.routes}
    words={words}
    operation="listRoutes"
    columns={columns}
    name={({ name }) => name}
    href={({ id }) => to('/routes/$routeId', { routeId: id })}
    create={{ label: pages.newRoute, operation: 'createRoute', href: to('/routes/new') }}
    example={[
      'createRoute',
      {
        for: 'reviews',
        name: 'Everything',
        steps: [{ channel_id: '00000000-0000-7000-8000-000000000000', to: 'channel' }],
      },
    ]}
  />
);
