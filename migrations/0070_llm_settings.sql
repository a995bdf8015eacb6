-- The settings of an LLM configuration by its kind: sealed JSON, bound to its table, row and column. It takes the place
-- of base_url, api_key and headers, which the release before this one still reads and writes. Null: only these are true.
alter table llm_configurations add column settings text;
-- The ETag.
alter table llm_configurations add column revision integer not null default 1;

-- The release before changes its three columns and knows nothing of `settings`, which then no longer holds.
create function llm_configurations_settings() returns trigger language plpgsql as $$
begin
  if new.settings is not distinct from old.settings
    and (new.base_url, new.api_key, new.headers) is distinct from (old.base_url, old.api_key, old.headers) then
    new.settings := null;
  end if;
  return new;
end $$;
create trigger llm_configurations_settings before update on llm_configurations
  for each row execute function llm_configurations_settings();
