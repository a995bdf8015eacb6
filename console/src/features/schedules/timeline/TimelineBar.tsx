import { useUrlState } from '../../../routing/url-state.ts';
import { common } from '../../../text/en/common.ts';
import { scheduleTimeline as words } from '../../../text/en/schedule-timeline.ts';
import { Bar, Button, CopyButton, FilterBar, FilterSelect, Segmented } from '../../../ui/index.ts';
import { AgentFilter } from '../list/AgentFilter.tsx';
import type { SchedulesSearch } from '../search.ts';
import { paramsOf, type Span, type SpanName, spanNameOf, spanNames, spans } from './span.ts';
import css from './timeline.module.css';

export const timelineFilters = [
  'agent_id',
  'schedule_id',
] as const satisfies readonly (keyof SchedulesSearch)[];

const options = spanNames.map((value) => ({ value, label: words.spans[value] }));

/** The controls of the timeline: agent, length and beginning. */
export const TimelineBar = ({ span, scheduleName }: { span: Span; scheduleName: string | undefined }) => {
  const { search, set, href, clear, count } = useUrlState<SchedulesSearch>();
  const { from, to, follows } = span;
  const { agent_id, schedule_id } = search;
  /** Goes to another time: no part of the page follows the present then. */
  const go = (begin: number, end: number) => set(paramsOf(begin, end));
  const zoom = (name: SpanName) => {
    if (follows) return set({ span: name === '1d' ? undefined : name });
    const middle = (from + to) / 2;
    go(middle - spans[name] / 2, middle + spans[name] / 2);
  };
  const half = (to - from) / 2;
  return (
    <FilterBar
      set={count(timelineFilters)}
      onClear={() => clear(timelineFilters)}
      aside={
        <CopyButton
          small
          label={common.copyLink}
          value={`${location.origin}${href({ span: undefined, next: search.next, ...paramsOf(from, to) })}`}
        />
      }
    >
      <AgentFilter value={agent_id} onChange={(agent_id) => set({ agent_id })} />
      {schedule_id && (
        <FilterSelect
          label={words.schedule}
          value={schedule_id}
          options={[{ value: schedule_id, label: scheduleName ?? schedule_id.slice(0, 8) }]}
          onChange={(schedule_id) => set({ schedule_id })}
        />
      )}
      <span className={css.zoom}>
        <Segmented
          label={words.zoom}
          hiddenLabel
          // No segment is chosen if the address has another length.
          value={(spanNameOf(span) ?? '') as SpanName}
          options={options}
          onChange={zoom}
        />
      </span>
      <Bar>
        <Button small onClick={() => go(from - half, to - half)}>
          {words.earlier}
        </Button>
        <Button
          small
          disabledReason={follows ? words.followsNow : null}
          onClick={() => set({ from: undefined, to: undefined, span: spanNameOf(span) })}
        >
          {words.now}
        </Button>
        <Button small onClick={() => go(from + half, to + half)}>
          {words.later}
        </Button>
      </Bar>
    </FilterBar>
  );
};
