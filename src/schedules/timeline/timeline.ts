import type { Executor } from '../../database/index.ts';
import { LocalClock } from '../../lib/times.ts';
import { type HistoryRow, listVersionsOf } from '../definition-store.ts';
import { historyText } from '../explain/verdicts.ts';
import { occurrencesOfStored } from '../occurrences.ts';
import { addSeries, type Buckets, type Grid, type HeldDefinition, type Series } from './buckets.ts';
import {
  countRecorded,
  listPlotted,
  listPlottedAgents,
  listPlottedOf,
  listTogether,
  type PlottedSchedule,
  type RowQuery,
} from './store.ts';

/** A row of the timeline: one schedule, or all of an agent. */
export interface PlottedRow {
  id: string;
  name: string;
  agent: { id: string; name: string };
  /** The zone of its schedules; null if they have several. */
  zone: string | null;
  schedules: readonly PlottedSchedule[];
  sort_name: string;
}

/** A page has fewer rows if they have more schedules than this. */
const mostSchedules = 2_000;

const ofSchedule = (schedule: PlottedSchedule): PlottedRow => ({
  id: schedule.id,
  name: schedule.work_item_name ?? schedule.agent_name,
  agent: { id: schedule.agent_id, name: schedule.agent_name },
  zone: schedule.timezone,
  schedules: [schedule],
  sort_name: schedule.sort_name,
});

/** The rows of a page and, if there are more, one that is not shown. */
export const listRows = async (
  executor: Executor,
  by: 'schedules' | 'agents',
  query: RowQuery,
): Promise<{ rows: PlottedRow[]; more: boolean }> => {
  if (by === 'schedules') {
    const schedules = await listPlotted(executor, { ...query, limit: query.limit + 1 });
    return { rows: schedules.slice(0, query.limit).map(ofSchedule), more: schedules.length > query.limit };
  }
  const agents = await listPlottedAgents(executor, { ...query, limit: query.limit + 1 });
  let total = 0;
  const fitting = agents.slice(0, query.limit).filter((agent, k) => {
    total += agent.schedules;
    return k === 0 || total <= mostSchedules;
  });
  const schedules = await listPlottedOf(
    executor,
    fitting.map(({ id }) => id),
    query.scheduleId,
  );
  const byAgent = Map.groupBy(schedules, ({ agent_id }) => agent_id);
  const rows = fitting.map(({ id, name, sort_name }) => {
    const own = byAgent.get(id) ?? [];
    const zones = new Set(own.map(({ timezone }) => timezone));
    const zone = zones.size === 1 ? [...zones][0]! : null;
    return { id, name, agent: { id, name }, zone, schedules: own, sort_name };
  });
  return { rows, more: agents.length > fitting.length };
};

const heldBy = (versions: readonly HistoryRow[]): HeldDefinition[] =>
  versions.map((version, k) => ({
    from: version.from_at.getTime(),
    to: versions[k + 1]?.from_at.getTime() ?? Number.POSITIVE_INFINITY,
    occurrences: version.enabled ? occurrencesOfStored(version) : null,
  }));

/** Events of the triggers of an agent in a bucket: the `k`th of the grid. */
interface EventCount {
  agent_id: string;
  k: number;
  became: keyof EventSums;
  n: number;
}

/** Events that started a Work Item, that started none as the trigger says, and that could not. */
export interface EventSums {
  fired: number;
  other: number;
  failed: number;
}

/** Counts the events of agents in [from, to), in buckets of `stepMs`. */
export type CountEvents = (
  executor: Executor,
  agentIds: readonly string[],
  span: { from: Date; to: Date; stepMs: number },
) => Promise<readonly EventCount[]>;

/** The events of agents by bucket, by the id of the agent. Those to come are not known, so nothing is counted after `now`. */
export const plotEvents = async (
  executor: Executor,
  count: CountEvents,
  agentIds: readonly string[],
  grid: Grid,
  now: number,
): Promise<Map<string, Map<number, EventSums>>> => {
  const plotted = new Map(agentIds.map((id) => [id, new Map<number, EventSums>()]));
  const [from, to] = [new Date(grid.from), new Date(Math.min(grid.to, now + 1))];
  if (to <= from) return plotted;
  for (const { agent_id, k, became, n } of await count(executor, agentIds, { from, to, stepMs: grid.step })) {
    const buckets = plotted.get(agent_id)!;
    const sums = buckets.get(k) ?? { fired: 0, other: 0, failed: 0 };
    sums[became] += n;
    buckets.set(k, sums);
  }
  return plotted;
};

export interface Plot {
  /** By the id of the row. */
  buckets: Map<string, Buckets>;
  /** The versions that began in the span, with what they changed. */
  changes: { row: HistoryRow; text: string }[];
}

/**
 * Returns the occurrences that happened and those that are to come, row by row of the grid. `retainedFrom`: older
 * records are not kept.
 */
export const plotRows = async (
  executor: Executor,
  rows: readonly PlottedRow[],
  grid: Grid,
  now: number,
  retainedFrom: number,
): Promise<Plot> => {
  const schedules = rows.flatMap((row) => row.schedules);
  const ids = schedules.map(({ id }) => id);
  const [from, to] = [new Date(grid.from), new Date(Math.min(grid.to, now + 1))];
  const isPast = grid.from <= now;
  const recorded = isPast ? await countRecorded(executor, ids, { from, to, stepMs: grid.step }) : [];
  const together = isPast ? await listTogether(executor, ids, from, to) : [];
  // Also those before the first of what was skipped together: their definition held then.
  const earliest = Math.min(grid.from, ...together.map((row) => row.scheduled_for.getTime()));
  const versions = isPast ? await listVersionsOf(executor, ids, new Date(earliest - 1), to) : [];
  const recordedOf = Map.groupBy(recorded, ({ schedule_id }) => schedule_id);
  const togetherOf = Map.groupBy(together, ({ schedule_id }) => schedule_id);
  const versionsOf = Map.groupBy(versions, ({ schedule_id }) => schedule_id);
  const buckets = new Map<string, Buckets>();
  for (const row of rows) {
    const own: Buckets = new Map();
    buckets.set(row.id, own);
    for (const schedule of row.schedules) {
      const held = heldBy(versionsOf.get(schedule.id) ?? []);
      const series: Series = {
        recorded: recordedOf.get(schedule.id) ?? [],
        together: (togetherOf.get(schedule.id) ?? []).map(({ scheduled_for, count, reason }) => ({
          first: scheduled_for.getTime(),
          count,
          as: reason === 'missed' ? 'missing' : 'skipped',
        })),
        held,
        nextRunAt: schedule.next_run_at?.getTime() ?? null,
        planned: schedule.enabled ? occurrencesOfStored(schedule) : null,
        knownFrom: Math.max(retainedFrom, held[0]?.from ?? Number.POSITIVE_INFINITY),
      };
      addSeries(own, grid, series, now);
    }
  }
  const zones = new Map(schedules.map(({ id, timezone }) => [id, timezone]));
  const changes = versions.flatMap((row, k) => {
    if (row.from_at.getTime() < grid.from) return [];
    const before = versions[k - 1]?.schedule_id === row.schedule_id ? versions[k - 1] : undefined;
    return [{ row, text: historyText(row, before, new LocalClock(zones.get(row.schedule_id)!, now)) }];
  });
  return { buckets, changes };
};
