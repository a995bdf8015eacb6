-- The database's clock, in milliseconds: a JavaScript Date has no more, and a compare-and-set on a time with
-- microseconds would never match. Marked stable so that `next_run_at <= platform_now()` can use an index; inside
-- one statement it is the same anyway. `platform.clock_offset_ms` moves it where a test asks for it.
create function platform_now() returns timestamptz(3) language sql stable as $$
  select (clock_timestamp()
    + coalesce(nullif(current_setting('platform.clock_offset_ms', true), ''), '0')::bigint * interval '1 millisecond'
  )::timestamptz(3)
$$;
