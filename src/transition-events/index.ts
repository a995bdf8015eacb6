import { type RawBuilder, sql } from '../database/index.ts';

/** Changes of status of Work Items as events of the triggers that wait for them. */

/** An expression that is true if any trigger waits for the creation of a PENDING Work Item. */
export const watchesCreation = sql<boolean>`(select exists (select from triggers
  where kind = 'work_item' and 'PENDING' = any(watched_statuses)))`;

/** What an event says of the Work Item `w`, as jsonb, apart from agent and status. */
export const snapshotOf = (w: string): RawBuilder<unknown> => {
  const column = (name: string) => sql.ref(`${w}.${name}`);
  return sql`jsonb_build_object('id', ${column('id')}, 'name', ${column('work_item_name')},
    'message', ${column('message')}, 'payload', ${column('payload')}, 'result', ${column('result')},
    'error', ${column('error')}, 'schedule_id', ${column('schedule_id')}, 'trigger_id', ${column('trigger_id')},
    'created_at', ${column('created_at')}, 'started_at', ${column('started_at')}, 'finished_at', ${column('finished_at')})`;
};

/**
 * The statement that records an event for each trigger that waits for a change, as `pending`, in the transaction of the
 * change; a loop judges it. `moved` has `agent_id`, `status`, `previous_status` (null: it was created), `depth` and
 * `snapshot` of Work Items.
 */
export const transitionInsertion = (moved: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into trigger_events (id, trigger_id, identity, event_id, type, at, outcome, last_delivery_at, depth, revision,
    pending_event)
  select new.id, t.id, sha256(convert_to('event' || chr(10) || new.id::text, 'UTF8')), new.id::text,
    'work_item.' || lower(m.status), (select platform_now()), 'pending', (select platform_now()), m.depth + 1, t.revision,
    m.snapshot || jsonb_build_object('status', m.status, 'previous_status', m.previous_status,
      'agent', jsonb_build_object('id', m.agent_id, 'name', (select name from agents a where a.id = m.agent_id)))
  from triggers t join ${moved} m on m.status = any(t.watched_statuses)
    and (t.watched_agent_id is null or t.watched_agent_id = m.agent_id)
  cross join lateral (select new_id() as id where t.id is not null and m.status is not null) new
  where t.kind = 'work_item'`;
