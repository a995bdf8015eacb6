-- Whether who asked for the work of an agent may not approve its tool calls. A replica of the release before leaves it out
-- when it inserts and writes other columns when it updates.
alter table agents add column approver_not_requester boolean not null default false;
