import { type Executor, sql } from '../database/index.ts';

/**
 * The id of the last event that the stream of a Work Item has sent to one who follows it: how many events its history and
 * its messages make (`Events` in stream.ts), counted without reading the messages.
 */
export const lastEventId = async (executor: Executor, workItemId: string): Promise<number> => {
  const parts = (type: 'tool_call' | 'tool_result') =>
    sql`(select count(*) from jsonb_array_elements(content) part where part ->> 'type' = ${sql.lit(type)})`;
  const { rows } = await sql<{ n: number }>`
    select (select count(*) + count(*) filter (where to_status in ('NEEDS_REVIEW', 'INDETERMINATE'))
        from work_item_events where work_item_id = ${workItemId})
      + (select coalesce(sum(case jsonb_typeof(content)
            when 'object' then coalesce(1 + jsonb_array_length(content -> 'tool_calls'), 1)
            when 'array' then case role when 'assistant' then 1 + ${parts('tool_call')} else ${parts('tool_result')} end
            else case role when 'assistant' then 1 else 0 end
          end), 0)::bigint from work_item_messages where work_item_id = ${workItemId}) as n`.execute(
    executor,
  );
  return rows[0]!.n;
};
