import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { IntegrationList, ShownIntegration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  NothingMatches,
  OutcomeTag,
  Page,
  permissionReason,
  Quiet,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import type { integrationsSearch } from './search.ts';
import { kindOf, stateOf, titleOf } from './sentences.tsx';
import { hostOf } from './values.ts';

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
        <Quiet>{words.never}</Quiet>
      ),
  },
];

const filters = ['q', 'state'] as const;
const states = Object.entries(words.states).map(([value, label]) => ({ value, label }));

/** All tracing backends and how they are. There are few, so the page filters them itself. */
export const IntegrationsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof integrationsSearch>>();
  const { q = '', state } = search;
  const got = useGet<IntegrationList>('/app/api/integrations', { every: listPolling(true) });
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createIntegration'));
  const create = (
    <ButtonLink kind="primary" href={to.newIntegration()} disabledReason={mayCreate}>
      {words.newIntegration}
    </ButtonLink>
  );
  const matches = (row: ShownIntegration) =>
    (state === undefined || stateOf(row) === state) &&
    `${titleOf(row)} ${row.settings.url}`.toLowerCase().includes(q.toLowerCase());
  const empty = got.data?.data.length === 0;
  return (
    <Page title={pages.integrations} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q} onChange={(q) => set({ q })} />
          <FilterChoice
            label={words.state}
            value={state ? [state] : []}
            options={states}
            onChange={([state]) => set({ state })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listIntegrations">
        {({ data }) => (
          <Box>
            {data.length === 0 ? (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/observability/integrations', {
                  version: '1',
                  settings: {
                    provider: 'otlp_custom_headers',
                    url: 'https://collector.example.com/v1/traces',
                    headers: { 'x-api-key': 'secret' },
                  },
                })}
              />
            ) : data.some(matches) ? (
              <Table
                label={pages.integrations}
                rows={data.filter(matches)}
                columns={columns}
                rowKey={({ id }) => id}
                name={titleOf}
                href={({ id }) => to.integration(id)}
              />
            ) : (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            )}
          </Box>
        )}
      </Loaded>
    </Page>
  );
};
