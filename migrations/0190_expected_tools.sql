-- How tools may be used that the server has not listed yet: {name: {policy, idempotent}}. A document of the workspace
-- names tools before they are discovered; a `deny` must hold from the discovery on.
alter table tool_servers add column expected_tools jsonb not null default '{}';
