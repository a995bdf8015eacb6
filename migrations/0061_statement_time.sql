-- The time of the statement, not of the moment a column is filled in: `created_at` and `updated_at` of a new row are
-- one time, and so are those of all rows that a statement writes.
create or replace function platform_now() returns timestamptz(3) language sql stable as $$
  select (statement_timestamp()
    + coalesce(nullif(current_setting('platform.clock_offset_ms', true), ''), '0')::bigint * interval '1 millisecond'
  )::timestamptz(3)
$$;
