-- How documents are read. One row once someone configured it; without it the built-in reader is used.
create table document_intelligence (
  id text primary key default 'configuration' check (id = 'configuration'),
  provider text not null check (provider in ('embedded', 'azure', 'docling', 'http')),
  -- Sealed: addresses, keys and headers of the provider.
  settings text not null,
  -- Null, also after its deletion: the default model.
  llm_id uuid references llm_configurations (id) on delete set null,
  ocr text not null check (ocr in ('auto', 'off')),
  ocr_languages jsonb not null,
  updated_at timestamptz(3) not null default platform_now()
);
