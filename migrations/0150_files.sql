-- Files of conversations and Work Items. Their bytes are in a folder (embedded database) or in file_bytes.
create table files (
  id uuid primary key,
  conversation_id uuid references conversations (id) on delete cascade,
  -- Without a foreign key, like all that refers to Work Items: a trigger removes what belongs to a deleted one.
  work_item_id uuid,
  name text not null,
  content_type text not null,
  size_bytes bigint not null,
  sha256 text not null,
  created_by text not null,
  created_at timestamptz(3) not null default platform_now(),
  check ((conversation_id is null) <> (work_item_id is null))
);
create unique index files_conversation on files (conversation_id, name) where conversation_id is not null;
create unique index files_work_item on files (work_item_id, name) where work_item_id is not null;

-- The bytes of files and data frames on PostgreSQL, a MiB a row. A row is at most 10 minutes older than what refers to it.
create table file_bytes (
  file_id uuid not null,
  part integer not null,
  bytes bytea not null,
  created_at timestamptz(3) not null default platform_now(),
  primary key (file_id, part)
);
-- Bytes that are compressed already would be compressed in vain.
alter table file_bytes alter column bytes set storage external;
create index file_bytes_age on file_bytes (created_at) where part = 0;

-- What no row refers to any more, whatever deleted it. Its bytes are removed within seconds.
create table removed_files (
  id uuid primary key,
  removed_at timestamptz(3) not null default platform_now()
);

create function remove_file_bytes() returns trigger language plpgsql as $$
begin
  insert into removed_files (id) select id from gone on conflict do nothing;
  if found then perform pg_notify('removed_files', ''); end if;
  return null;
end $$;
create trigger files_removed after delete on files
  referencing old table as gone for each statement execute function remove_file_bytes();

create function remove_files_of_work_items() returns trigger language plpgsql as $$
begin
  delete from files where work_item_id in (select id from gone);
  return null;
end $$;
create trigger work_items_files after delete on work_items
  referencing old table as gone for each statement execute function remove_files_of_work_items();
