-- The audit of a schedule reads what was recorded of one span of nominal times. The primary key finds a schedule's
-- records by the time they were made, so that each answer read all that are kept: 525,600 for a year of minutes.
create index occurrences_scheduled_for on occurrences (schedule_id, scheduled_for);
-- Those that stand for several are few, and may reach into a span from before it.
create index occurrences_together on occurrences (schedule_id, scheduled_for) where count > 1;
