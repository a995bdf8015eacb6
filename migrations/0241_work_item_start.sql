-- A Work Item that waits for a time, which `not_before` has too while it is PENDING; null if it never waited.
alter table work_items add column start_at timestamptz(3);
