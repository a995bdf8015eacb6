-- Gates: what a draft has to pass before it is published. A check is a publication in the state `checking`.
alter table agents
  add column gate jsonb,
  -- The last canary that the platform ended: {version, reason, at}.
  add column ended_canary jsonb;

create or replace function agent_content(agent agents) returns json language sql stable as $$
  select json_object_agg(key, value) from json_each(row_to_json(agent))
  where key not in ('id', 'name', 'description', 'mode', 'callbacks', 'max_concurrency', 'release', 'gate', 'version',
    'latest_version', 'publication_id', 'draft', 'canary', 'ended_canary', 'revision', 'created_at', 'updated_at')
$$;

alter table agent_publications
  -- The figures of the check; null if no gate checked it.
  add column gate jsonb,
  -- The gate as it was when the check began.
  add column gate_rules jsonb,
  add column check_only boolean not null default false,
  -- SHA-256 of all that a verdict depends on: the same question has the same verdict.
  add column verdict_key text;
create unique index agent_publications_checking on agent_publications (agent_id) where state = 'checking';
create index agent_publications_verdict on agent_publications (agent_id, verdict_key) where verdict_key is not null;
create index agents_gate_dataset on agents (lower(gate ->> 'dataset_id')) where gate is not null;
create index agents_ended_canary on agents (id) where ended_canary is not null;
