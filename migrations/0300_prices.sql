-- Prices of models: the company's own, and those of the catalogue that were used.
create table prices (
  id uuid primary key,
  source text not null check (source in ('own', 'catalogue')),
  -- Null: every configuration. No foreign key: a price outlives the configuration, because charges name it.
  llm_id uuid,
  model text not null,
  -- USD per million tokens, and per call, as decimals in strings.
  rates jsonb not null,
  -- {input_tokens, rates}
  above jsonb,
  valid_from timestamptz(3) not null default platform_now(),
  valid_to timestamptz(3),
  -- A deleted price matches nothing. Its row stays, because a charge may name it that was under way.
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default platform_now(),
  check (valid_to > valid_from),
  check (source = 'own' or (llm_id is null and valid_to is null and deleted_at is null))
);
-- Each distinct set of rates of a model is one row, whichever replica uses it first.
create unique index prices_catalogue on prices (model, rates, above) nulls not distinct where source = 'catalogue';
create index prices_own on prices (id) where source = 'own' and deleted_at is null;

-- Rates never change, so that each charge can be computed again from its tokens and its price.
create function prices_immutable() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if (to_jsonb(new) - 'valid_to' - 'deleted_at') = (to_jsonb(old) - 'valid_to' - 'deleted_at')
      and old.deleted_at is null then
      return new;
    end if;
  end if;
  raise exception 'a price cannot be changed, only ended';
end $$;
create trigger prices_immutable before update or delete on prices
  for each row execute function prices_immutable();
create trigger prices_no_truncate before truncate on prices
  for each statement execute function prices_immutable();

-- Every replica keeps the company's own prices in memory: it reads them again when this number has changed.
create table price_revision (
  only_row boolean primary key default true check (only_row),
  revision bigint not null
);
insert into price_revision (revision) values (0);

create function own_prices_changed() returns trigger language plpgsql as $$
begin
  update price_revision set revision = revision + 1;
  perform pg_notify('prices', '');
  return null;
end $$;
create trigger own_prices_inserted after insert on prices
  for each row when (new.source = 'own') execute function own_prices_changed();
create trigger own_prices_updated after update on prices
  for each row execute function own_prices_changed();
