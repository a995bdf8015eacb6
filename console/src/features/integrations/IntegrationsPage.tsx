import { listPolling } from '../../api/index.ts';
import type { ShownIntegration } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { type Column, Muted, OutcomeTag, optionsOf, TwoLines } from '../../ui/index.ts';
import { hostOf, kindOf, stateOf, titleOf } from './sentences.tsx';

const scopeOf = ({ scopes }: ShownIntegration): string => {
  if (scopes.some(({ scope }) => scope === 'global')) return words.allAgents;
  const [first, ...more] = scopes;
  if (!first) return words.noAgents;
  return more.length === 0 ? (first.agent?.name ?? '') : words.agents(scopes.length);
};

const columns: readonly Column<ShownIntegration>[] = [
  {
    key: 'title',
    title: words.backend,
    width: '32%',
    cell: (row) => (
      <TwoLines
        below={
          row.description
            ? words.titleOf(
                words.providers[row.settings.provider],
                hostOf(row.resolved_url ?? row.settings.url),
              )
            : undefined
        }
      >
        {titleOf(row)}
      </TwoLines>
    ),
  },
  {
    key: 'state',
    title: words.state,
    width: '24%',
    cell: (row) => {
      const state = stateOf(row);
      const { last_error } = row.health;
      return (
        <TwoLines below={state !== 'delivering' && state !== 'disabled' ? last_error : undefined}>
          <OutcomeTag kind={kindOf[state]}>{words.states[state]}</OutcomeTag>
        </TwoLines>
      );
    },
  },
  { key: 'scope', title: words.scope, phone: 'below', cell: scopeOf },
  {
    key: 'delivered',
    title: words.delivered,
    numeric: true,
    phone: 'hide',
    cell: ({ health }) => number(health.delivered),
  },
  {
    key: 'queued',
    title: words.queued,
    numeric: true,
    phone: 'hide',
    cell: ({ health }) => (
      <TwoLines below={health.backlog_age_seconds >= 1 ? words.lag(health.backlog_age_seconds) : undefined}>
        {number(health.queued)}
      </TwoLines>
    ),
  },
  {
    key: 'success',
    title: words.lastSuccess,
    phone: 'hide',
    cell: ({ health }) =>
      health.last_success_at ? (
        <Time at={health.last_success_at} form="relative" />
      ) : (
        <Muted>{words.never}</Muted>
      ),
  },
];

/** All tracing backends and how they are. There are few, so the page filters them itself. */
export const IntegrationsPage = () => (
  <ListPage
    title={pages.integrations}
    words={words}
    operation="listIntegrations"
    every={listPolling(true)}
    filters={[{ name: 'q' }, { name: 'state', label: words.state, options: optionsOf(words.states) }]}
    matches={(row, { q = '', state }) =>
      (state === undefined || stateOf(row) === state) &&
      `${titleOf(row)} ${row.settings.url}`.toLowerCase().includes(q.toLowerCase())
    }
    columns={columns}
    name={titleOf}
    href={({ id }) => to('/integrations/$integrationId', { integrationId: id })}
    create={{ label: words.newIntegration, operation: 'createIntegration', href: to('/integrations/new') }}
    example={[
      'createObservabilityIntegration',
      {
        version: '1',
        settings: {
          provider: 'otlp_custom_headers',
          url: 'https://collector.example.com/v1/traces',
          headers: { 'x-api-key': 'secret' },
        },
      },
    ]}
  />
);
