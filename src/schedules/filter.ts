import { type RawBuilder, sql } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { OutcomeFilter } from './occurrence-store.ts';
import type { LastOutcome } from './store.ts';

export const scheduleStates = ['enabled', 'paused', 'blocked'] as const;

/** Filter of the schedules of all agents. */
export interface ScheduleFilter {
  /** Part of the name of the schedule or its agent, or the beginning of the schedule's id. */
  q?: string | undefined;
  agent_id?: string | undefined;
  state?: (typeof scheduleStates)[number] | undefined;
  /** The outcome of its last occurrence. */
  outcome?: OutcomeFilter | undefined;
  zone?: string | undefined;
  ids?: readonly string[] | undefined;
}

/** The last outcomes that a filter by an outcome stands for. */
const lastOutcomes: Record<OutcomeFilter, readonly LastOutcome[]> = {
  fired: ['on_time', 'late'],
  on_time: ['on_time'],
  late: ['late'],
  caught_up: ['caught_up'],
  skipped: ['skipped', 'blocked'],
  manual: ['manual'],
};

/** A part of a text, whatever characters of a pattern it has. */
const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** The condition of a filter on `schedules s` joined to `agents a`. An unknown id matches nothing. */
export const matchesFilter = ({
  q,
  agent_id,
  state,
  outcome,
  zone,
  ids,
}: ScheduleFilter): RawBuilder<boolean> => {
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  if (q !== undefined && q.trim() !== '') {
    const part = containing(q.trim());
    conditions.push(
      sql`(s.work_item_name ilike ${part} or a.name ilike ${part} or s.id::text like ${part.slice(1)})`,
    );
  }
  if (agent_id !== undefined) conditions.push(isId(agent_id) ? sql`s.agent_id = ${agent_id}` : sql`false`);
  if (state === 'enabled') conditions.push(sql`s.enabled`);
  if (state === 'paused') conditions.push(sql`not s.enabled`);
  if (state === 'blocked') {
    conditions.push(sql`s.enabled and (s.next_run_at is null or s.last_outcome = 'blocked')`);
  }
  if (outcome !== undefined) conditions.push(sql`s.last_outcome = any(${lastOutcomes[outcome]}::text[])`);
  if (zone !== undefined) conditions.push(sql`s.timezone = ${zone}`);
  if (ids !== undefined) conditions.push(sql`s.id = any(${ids.filter(isId)}::uuid[])`);
  return sql`${sql.join(conditions, sql` and `)}`;
};
