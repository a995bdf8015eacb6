import { type Executor, sql } from '../database/index.ts';
import { type Attempt, type AttemptEvent, type AttemptStep, attemptsOf } from './attempts.ts';
import { costOfAttempt } from './step-store.ts';

/** The history of a Work Item that is longer is read from its end. */
const mostEvents = 1_000;

/** The attempts of a Work Item, oldest first. */
export const listAttempts = async (executor: Executor, workItemId: string): Promise<Attempt[]> => {
  const { rows: events } = await sql<AttemptEvent>`
    select seq, at, action, to_status as to, details ->> 'owner' as owner, details -> 'error' as error
    from work_item_events where work_item_id = ${workItemId}
      and action in ('claim', 'finish', 'retry', 'hand_back', 'lease_lost', 'continue', 'restart')
    order by seq desc limit ${mostEvents}`.execute(executor);
  if (events.length === 0) return [];
  const sum = (name: string) => sql`coalesce(sum((tokens ->> ${sql.lit(name)})::bigint), 0)`;
  const { rows: steps } = await sql<AttemptStep>`
    select s.started_at, s.trace_id, coalesce(s.tokens, used.usage) as usage, cost.cost_nano_usd, cost.unknown_calls
    from work_item_steps s left join (
      select parent, jsonb_build_object('input_tokens', ${sum('input_tokens')},
        'output_tokens', ${sum('output_tokens')}, 'cached_input_tokens', ${sum('cached_input_tokens')},
        'reasoning_tokens', ${sum('reasoning_tokens')}, 'model_calls', count(*) filter (where kind = 'model'),
        'tool_calls', count(*) filter (where kind = 'tool')) as usage
      from work_item_steps where work_item_id = ${workItemId} and parent is not null group by parent
    ) used on used.parent = s.seq cross join lateral ${costOfAttempt} cost
    where s.work_item_id = ${workItemId} and s.kind = 'attempt' order by s.seq`.execute(executor);
  return attemptsOf(events.reverse(), steps);
};
