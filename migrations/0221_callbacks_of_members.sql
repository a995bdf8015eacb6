-- Who gave a callback decides which addresses it may reach, for as long as it is delivered. The release before lets members
-- reach all that EGRESS_DENY permits, and so do callbacks that it makes.
alter table callbacks add column given_by_member boolean not null default false;
