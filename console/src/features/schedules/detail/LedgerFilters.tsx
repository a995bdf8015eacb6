import type { ScheduleDetail } from '../../../api/types.gen.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { clockTime, shortDay, useClock } from '../../../time/index.ts';
import { FilterBar, FilterChoice, FilterSelect, Strip } from '../../../ui/index.ts';
import type { scheduleSearch } from '../search.ts';
import { outcomeOptions, stripOf } from '../shared/outcomes.ts';

export const ledgerFilters = ['from', 'to', 'outcome'] as const;

const day = 86_400_000;
const ranges = ['1', '7', '30'] as const;

/** Names the chosen span: as the choice if it is one, else with its times. */
const rangeWords = (from: string | undefined, to: string | undefined, zone: string, now: number) => {
  const shown = (time: string) => `${shortDay(new Date(time), zone)} ${clockTime(new Date(time), zone)}`;
  if (from !== undefined && to !== undefined) return words.between(shown(from), shown(to));
  if (to !== undefined) return words.until(shown(to));
  if (from === undefined) return null;
  const days = (now - Date.parse(from)) / day;
  const range = ranges.find((each) => Math.abs(days - Number(each)) < 1 / 24);
  return range ? words.ranges[range] : words.since(shown(from));
};

/** The filters of the ledger, and its last 20 outcomes at a glance. */
export const LedgerFilters = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof scheduleSearch>>();
  const { from, to, outcome } = search;
  const range = useClock((now) => rangeWords(from, to, schedule.timezone, now) ?? '');
  return (
    <FilterBar
      set={count(ledgerFilters)}
      onClear={() => clear(ledgerFilters)}
      aside={<Strip kinds={stripOf(schedule.recent)} />}
    >
      <FilterChoice
        label={words.range}
        value={range === '' ? [] : [range]}
        options={ranges.map((each) => ({ value: words.ranges[each], label: words.ranges[each] }))}
        onChange={([chosen]) => {
          const days = ranges.find((each) => words.ranges[each] === chosen);
          // The address has the times themselves, so that who follows the link sees the same rows.
          const begin = days && new Date(Math.floor((Date.now() - Number(days) * day) / 60_000) * 60_000);
          set({ from: begin?.toISOString(), to: undefined });
        }}
      />
      <FilterSelect<NonNullable<typeof outcome>>
        label={words.outcome}
        value={outcome}
        options={outcomeOptions}
        onChange={(outcome) => set({ outcome })}
      />
    </FilterBar>
  );
};
