-- One order for all that happened to a Work Item, transitions and messages: its event stream is numbered by it. Both
-- are written under the lock of the Work Item's row, so that the numbers of one Work Item rise as they are committed.
alter table work_item_messages alter column seq drop identity;
alter table work_item_messages alter column seq set default nextval('work_item_events_seq_seq');
select setval('work_item_events_seq_seq', greatest(
  (select max(seq) from work_item_messages), (select max(seq) from work_item_events),
  (select last_value from work_item_events_seq_seq)) + 1);
