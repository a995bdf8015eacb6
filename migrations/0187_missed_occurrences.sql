-- Missed occurrences by the time at which they were recorded, with all that the Overview sums. Few are missed, so that
-- firings, which record no other ones here, cost nothing more.
create index occurrences_missed on occurrences (at) include (schedule_id, scheduled_for, count)
  where outcome = 'skipped' and reason = 'missed';
drop index occurrences_skipped;
