-- Only what was changed from its default.
create table advanced_settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz(3) not null default platform_now()
);
