-- One row: the name, logos and color of the workspace; empty where none was set.
create table branding (
  only_row boolean primary key default true check (only_row),
  workspace_name text not null default '',
  logo_data_url text not null default '',
  logo_dark_data_url text not null default '',
  primary_color text not null default '',
  revision integer not null default 1,
  updated_at timestamptz(3)
);
insert into branding default values;
