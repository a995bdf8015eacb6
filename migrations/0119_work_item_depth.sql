-- How many agents called each other, by the tool protocol, before the Work Item was created.
alter table work_items add column depth smallint not null default 0 check (depth >= 0);
