-- The tools of the platform that the agent has; null: all, also those of later releases.
alter table agents add column builtin_tools text[];

-- What people should know of a step, such as tools that the model did not get.
alter table work_item_steps add column notes jsonb;
