import { useState } from 'react';
import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { NamedExperiment } from '../../api/types.gen.ts';
import { useAgentOptions } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { percent } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  Loaded,
  Muted,
  NothingMatches,
  optionsOf,
  Pager,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { ExperimentTag, endedOf, isOpen } from './marks.tsx';

export const experimentHref = (id: string): string =>
  to('/evaluations/experiments/$experimentId', { experimentId: id });

export const experimentName = ({ agent, version, dataset }: NamedExperiment): string =>
  words.title(agent.name, version, dataset.name);

const columns: readonly Column<NamedExperiment>[] = [
  {
    key: 'name',
    title: words.experiment,
    width: '40%',
    cell: ({ agent, version, dataset }) => (
      <TwoLines below={dataset.name}>
        {agent.name} <Muted>{words.versionOf(version)}</Muted>
      </TwoLines>
    ),
  },
  {
    key: 'state',
    title: words.state,
    phone: 'below',
    cell: (experiment) => (
      <TwoLines below={words.progress(endedOf(experiment), experiment.trials.total)}>
        <ExperimentTag state={experiment.state} />
      </TwoLines>
    ),
  },
  {
    key: 'score',
    title: words.score,
    titled: true,
    cell: ({ score, pass_rate }) =>
      score === null ? (
        <Muted>{words.unknown}</Muted>
      ) : (
        <TwoLines below={pass_rate !== null && `${words.passRate} ${percent(pass_rate)}`}>
          {words.points(score)}
        </TwoLines>
      ),
  },
  {
    key: 'when',
    title: words.when,
    phone: 'hide',
    cell: ({ created_at }) => <Time at={created_at} form="relative" />,
  },
];

const filters = ['state', 'agent_id'] as const;

/** Experiments; of one dataset if it is given. */
export const ExperimentsList = ({ datasetId }: { datasetId?: string }) => {
  const { search, set, clear, count } = useUrlState<{
    state?: NamedExperiment['state'];
    agent_id?: string;
    next?: string;
  }>();
  const [active, setActive] = useState(true);
  const { state, agent_id, next } = search;
  const got = useOperation(
    'listNamedExperiments',
    {},
    {
      query: { state, agent_id, next, dataset_id: datasetId },
      every: listPolling(active),
      keepPrevious: true,
    },
  );
  const rows = got.data?.data ?? [];
  const nowActive = rows.some(isOpen);
  if (got.data && nowActive !== active) setActive(nowActive);
  const pager = useCursor(got.data?.next);
  const agents = useAgentOptions(agent_id ? [agent_id] : [], {
    known: new Map(rows.map(({ agent }) => [agent.id, agent.name])),
  });
  const set_ = count(filters);
  const curl = curlOf(
    useBaseUrl(),
    'createExperiment',
    {},
    { body: { agent_id: '$AGENT', dataset_id: datasetId ?? '$DATASET' } },
  );
  return (
    <>
      {(rows.length > 0 || set_ > 0) && (
        <FilterBar set={set_} onClear={() => clear(filters)}>
          <FilterChoice
            label={words.state}
            value={state ? [state] : []}
            options={optionsOf(words.states)}
            onChange={([value]) => set({ state: value as NamedExperiment['state'] })}
          />
          <FilterChoice
            label={words.agent}
            value={agent_id ? [agent_id] : []}
            {...agents}
            onChange={([value]) => set({ agent_id: value })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listNamedExperiments">
        {({ data }) => (
          <Box>
            <Table
              label={words.tabs.experiments}
              rows={data}
              columns={columns}
              rowKey={({ id }) => id}
              name={experimentName}
              href={({ id }) => experimentHref(id)}
              nothing={
                set_ > 0 ? (
                  <NothingMatches
                    what={words.whatExperiments}
                    filters={set_}
                    onClear={() => clear(filters)}
                  />
                ) : (
                  <EmptyState sentence={words.noExperiments} curl={curl} />
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
