-- The claim of what is due must only ever be answered from schedules_due. While this index was partial on the same
-- condition, it could serve the claim too, by being read from end to end, and did where statistics were old.
drop index schedules_zone_rules;
create index schedules_zone_rules on schedules (zone_rules);
