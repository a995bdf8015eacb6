-- What the tables of a data connection mean: datasets, fields, relationships and metrics (Ossie), and questions with
-- answers that a person checked.
create table semantic_data_models (
  id uuid primary key,
  name text not null,
  description text,
  data_connection_id uuid not null
    constraint semantic_data_models_data_connection_id_fkey references data_connections (id),
  -- The document as it was given: `json` keeps unknown keys and the order of all.
  semantic_model json not null,
  verified_queries json not null,
  -- What static rules and the last look at the database found.
  validation json not null,
  created_by text not null,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create index semantic_data_models_data_connection on semantic_data_models (data_connection_id, id);

-- Which agents use a semantic data model.
create index agents_semantic_data_model_ids on agents using gin (semantic_data_model_ids);
