import { useAgentOptions } from '../../../resource/index.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { ui } from '../../../text/en/ui.ts';
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { Button, FilterBar, FilterChoice, FilterSelect, FilterText } from '../../../ui/index.ts';
import type { ListedWorkItem } from '../types.ts';
import { filterNames, type Search } from './filters.ts';
import { RangeFilter } from './RangeFilter.tsx';

/** The codes that the platform itself uses; a worker outside may use others. */
const errorCodes = [
  'model_unavailable',
  'model_unauthorized',
  'model_rate_limited',
  'model_refused',
  'model_answer_invalid',
  'model_answer_truncated',
  'model_answer_filtered',
  'context_too_long',
  'max_tokens',
  'max_steps',
  'timeout',
  'result_invalid',
  'tool_server_unavailable',
  'tool_server_unauthorized',
  'tool_outcome_unknown',
  'lease_lost',
  'indeterminate',
  'not_found',
  'internal_error',
];

const sources = ['schedule', 'trigger', 'api', 'person'] as const;
const sorts = ['created', 'finished', 'duration', 'waiting', 'cost'] as const;

/** The agents of the rows by their ids, and the schedules. */
const namesOf = (rows: readonly ListedWorkItem[]) => ({
  agents: new Map(rows.flatMap(({ agent }) => (agent.name ? [[agent.id, agent.name] as const] : []))),
  schedules: new Map(
    rows.flatMap(({ schedule }) => (schedule?.name ? [[schedule.id, schedule.name] as const] : [])),
  ),
});

export const Filters = ({ rows }: { rows: readonly ListedWorkItem[] }) => {
  const { search, set, replace, clear, count } = useUrlState<Search>();
  const names = namesOf(rows);
  const chosen = search.agent_id ?? [];
  const agents = useAgentOptions(chosen, { known: names.agents });
  const live = search.live === '1';
  const code = search.error_code;
  return (
    <FilterBar
      set={count(filterNames)}
      onClear={() => clear(filterNames)}
      aside={
        <>
          <FilterSelect
            label={words.order}
            value={search.sort ?? 'created'}
            onChange={(sort) => set({ sort: sort === 'created' ? undefined : sort })}
            options={sorts.map((value) => ({ value, label: words.orders[value] }))}
          />
          <Button
            small
            aria-pressed={live}
            title={live ? words.liveOn : words.liveOff}
            onClick={() => set({ live: live ? undefined : '1' })}
          >
            {ui.live}
          </Button>
        </>
      }
    >
      <FilterText value={search.q ?? ''} placeholder={words.filterText} onChange={(q) => replace({ q })} />
      <FilterChoice
        label={words.agent}
        value={chosen}
        {...agents}
        multiple
        onChange={(agent_id) => set({ agent_id: agent_id.length === 0 ? undefined : agent_id })}
      />
      <FilterSelect
        label={words.source}
        value={search.source}
        options={sources.map((value) => ({ value, label: words.sources[value] }))}
        onChange={(source) => set({ source })}
      />
      <FilterSelect
        label={words.errorCode}
        value={code}
        options={[...new Set([code ?? [], errorCodes].flat())].map((value) => ({ value, label: value }))}
        onChange={(error_code) => set({ error_code })}
      />
      {search.schedule_id && (
        <FilterSelect
          label={words.schedule}
          value={search.schedule_id}
          options={[
            {
              value: search.schedule_id,
              label: names.schedules.get(search.schedule_id) ?? search.schedule_id.slice(0, 8),
            },
          ]}
          onChange={(schedule_id) => set({ schedule_id })}
        />
      )}
      <RangeFilter
        label={words.created}
        range={{ from: search.created_from, to: search.created_to }}
        onChange={({ from, to }) => set({ created_from: from, created_to: to })}
      />
      {(search.finished_from || search.finished_to) && (
        <RangeFilter
          label={words.finished}
          range={{ from: search.finished_from, to: search.finished_to }}
          onChange={({ from, to }) => set({ finished_from: from, finished_to: to })}
        />
      )}
    </FilterBar>
  );
};
