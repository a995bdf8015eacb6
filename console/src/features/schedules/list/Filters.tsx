import { useState } from 'react';
import { useOperation } from '../../../api/index.ts';
import type { ListedSchedule } from '../../../api/types.gen.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { FilterBar, FilterSelect, FilterText, type Option } from '../../../ui/index.ts';
import { filterNames, type SchedulesSearch } from '../search.ts';
import { outcomeOptions } from '../shared/outcomes.ts';
import { AgentFilter } from './AgentFilter.tsx';

const states = (['enabled', 'paused', 'blocked'] as const).map((value) => ({
  value,
  label: words.states[value],
}));
const sorts = (['next', 'last', 'name'] as const).map((value) => ({ value, label: words.orders[value] }));

/** The zones of the rows, or those that the server finds. */
const useZoneOptions = (rows: readonly ListedSchedule[], chosen: string | undefined) => {
  const [typed, setTyped] = useState('');
  const query = { q: typed, limit: 50 };
  const { data } = useOperation(
    'listTimeZones',
    {},
    { query, enabled: typed !== '', keepPrevious: true, staleTime: 600_000 },
  );
  const shown = [...new Set([...(chosen ? [chosen] : []), ...rows.map(({ timezone }) => timezone)])].sort();
  const options: Option[] =
    typed !== '' && data
      ? data.data.map(({ name, offset }) => ({ value: name, label: name, note: offset }))
      : shown.map((name) => ({ value: name, label: name }));
  return { options, setTyped };
};

export const Filters = ({ rows }: { rows: readonly ListedSchedule[] }) => {
  const { search, set, replace, clear, count } = useUrlState<SchedulesSearch>();
  const { options: zones, setTyped } = useZoneOptions(rows, search.zone);
  const { q, agent_id, state, outcome, zone, sort } = search;
  return (
    <FilterBar
      set={count(filterNames)}
      onClear={() => clear(filterNames)}
      aside={
        <FilterSelect
          label={words.order}
          value={sort ?? 'next'}
          options={sorts}
          onChange={(next) => set({ sort: next === 'next' ? undefined : next })}
        />
      }
    >
      <FilterText value={q ?? ''} placeholder={words.filterText} onChange={(q) => replace({ q })} />
      <AgentFilter value={agent_id} onChange={(agent_id) => set({ agent_id })} />
      <FilterSelect label={words.state} value={state} options={states} onChange={(state) => set({ state })} />
      <FilterSelect
        label={words.outcome}
        value={outcome}
        options={outcomeOptions}
        onChange={(outcome) => set({ outcome })}
      />
      <FilterSelect
        label={words.zone}
        value={zone}
        options={zones}
        onSearch={setTyped}
        onChange={(zone) => set({ zone })}
      />
    </FilterBar>
  );
};
