create table llm_configurations (
  id uuid primary key,
  name text not null,
  kind text not null,
  model text not null,
  base_url text,
  -- Both sealed, each bound to its table, row and column; the second is a JSON object.
  api_key text,
  headers text,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);

-- One row: there is always exactly one default, and the reference keeps it from being deleted.
create table llm_defaults (
  only_row boolean primary key default true check (only_row),
  llm_id uuid not null constraint llm_defaults_llm_id_fkey references llm_configurations (id)
);

insert into llm_configurations (id, name, kind, model)
  values ('01980000-0000-7000-8000-000000000001', 'Built-in mock', 'mock', 'mock');
insert into llm_defaults (llm_id) values ('01980000-0000-7000-8000-000000000001');

-- A configuration that agents use cannot be deleted, nor an agent be given one that is being deleted.
alter table agents add constraint agents_llm_id_fkey foreign key (llm_id) references llm_configurations (id);
create index agents_llm_id on agents (llm_id) where llm_id is not null;
