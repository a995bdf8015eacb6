-- The reply of a model as its provider gave it: {kind, model, parts}. It is sent back to the same kind and model, and
-- never shown. `json` keeps the text as it is; `jsonb` would reorder keys, and no provider's cache would know it again.
alter table work_item_messages add column provider_parts json;

-- LLM configurations that take over when the agent's own cannot reply, in this order.
alter table agents add column fallback_llm_ids uuid[] not null default '{}';

-- A rotation of ENCRYPTION_KEY seals api_key and headers again under another key, without another change of the row.
-- That is not a change by the release before: `settings` has fields that the three columns do not have, and still holds.
create or replace function llm_configurations_settings() returns trigger language plpgsql as $$
begin
  if new.settings is not distinct from old.settings
    and (new.base_url, new.api_key, new.headers) is distinct from (old.base_url, old.api_key, old.headers)
    and not (new.updated_at = old.updated_at and new.base_url is not distinct from old.base_url
      and (split_part(new.api_key, '.', 2), split_part(new.headers, '.', 2))
        is distinct from (split_part(old.api_key, '.', 2), split_part(old.headers, '.', 2))) then
    new.settings := null;
  end if;
  return new;
end $$;
