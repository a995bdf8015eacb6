-- PostgreSQL vacuums a table when a fifth of it is dead. These lose as many rows as they get, so they would always be a
-- fifth larger than what they hold, and each vacuum would be a long one: at 20 million Work Items, of 4 million.
alter table work_items set (autovacuum_vacuum_scale_factor = 0.02);
alter table work_item_events set (autovacuum_vacuum_scale_factor = 0.02);
alter table work_item_messages set (autovacuum_vacuum_scale_factor = 0.02);
alter table work_item_steps set (autovacuum_vacuum_scale_factor = 0.02);
alter table occurrences set (autovacuum_vacuum_scale_factor = 0.02);
alter table charges set (autovacuum_vacuum_scale_factor = 0.02);
alter table schedules set (autovacuum_vacuum_scale_factor = 0.02);
