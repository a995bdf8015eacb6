import { listPolling, useOperation } from '../../api/index.ts';
import type { ListedTrigger } from '../../api/types.gen.ts';
import { EventTag } from '../../resource/EventTag.tsx';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { triggers } from '../../text/en/triggers.ts';
import { Time } from '../../time/index.ts';
import { type Column, Emphasis, Muted, TwoLines } from '../../ui/index.ts';
import { ListTab } from './ListTab.tsx';

const State = ({ enabled, blocked_reason }: ListedTrigger) => {
  if (!enabled) return <Muted>{triggers.states.paused}</Muted>;
  if (blocked_reason === null) return triggers.states.enabled;
  return (
    <TwoLines below={blocked_reason}>
      <Emphasis tone="missing">{triggers.states.blocked}</Emphasis>
    </TwoLines>
  );
};

const columns: readonly Column<ListedTrigger>[] = [
  { key: 'name', title: words.name, width: '32%', cell: ({ name }) => name },
  {
    key: 'kind',
    title: triggers.columns.kind,
    phone: 'below',
    cell: ({ kind, settings: { scheme, stream, topic } }) => (
      <TwoLines below={scheme ? triggers.schemes[scheme] : (stream ?? topic)}>
        {triggers.kinds[kind]}
      </TwoLines>
    ),
  },
  { key: 'state', title: triggers.columns.state, cell: State },
  {
    key: 'last',
    title: triggers.columns.last,
    phone: 'below',
    cell: ({ last }) =>
      last ? (
        <TwoLines below={<Time at={last.last_delivery_at} form="relative" />}>
          <EventTag outcome={last.outcome} />
        </TwoLines>
      ) : (
        <Muted third>{triggers.noEvent}</Muted>
      ),
  },
];

export const TriggersTab = ({ agentId }: { agentId: string }) => {
  const { search } = useUrlState<{ next?: string }>();
  const query = { agent_id: agentId, next: search.next, limit: 50 };
  const got = useOperation('listAllTriggers', {}, { query, every: listPolling(false), keepPrevious: true });
  return (
    <ListTab
      label={pages.triggers}
      got={got}
      operation="listAllTriggers"
      columns={columns}
      name={({ name }) => name}
      href={({ id }) => to('/agents/$agentId/triggers/$triggerId', { agentId, triggerId: id })}
      create={{
        label: triggers.newTrigger,
        operation: 'createTrigger',
        href: to('/triggers/new', {}, { agent: agentId }),
      }}
      none={words.noneTriggered}
    />
  );
};
