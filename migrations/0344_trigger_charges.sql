-- The trigger whose event created the Work Item of a charge.
alter table charges add column trigger_id uuid;
create index charges_trigger on charges (trigger_id, started_at) include (amount_nano_usd) where trigger_id is not null;
