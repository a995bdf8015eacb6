-- The end of the window in which something was missing and that has started a Work Item: an absence that does not repeat
-- waits until it is seen again.
alter table triggers add column missed_at timestamptz(3);
create index triggers_missed on triggers (id) where missed_at is not null;
