-- The version of an integration's configuration can be cleared, like its description.
alter table observability_integrations alter column version drop not null;
