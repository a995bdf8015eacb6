-- Data frames of conversations and Work Items: tables whose rows are a Parquet file, kept as files are.
create table data_frames (
  id uuid primary key,
  conversation_id uuid references conversations (id) on delete cascade,
  work_item_id uuid,
  name text not null,
  description text,
  -- What it was made of.
  source jsonb not null,
  -- [{name, datatype}], in their order.
  columns jsonb not null,
  row_count bigint not null,
  size_bytes bigint not null,
  truncated boolean not null,
  warnings jsonb not null,
  created_by text not null,
  created_at timestamptz(3) not null default platform_now(),
  check ((conversation_id is null) <> (work_item_id is null))
);
create unique index data_frames_conversation on data_frames (conversation_id, name) where conversation_id is not null;
create unique index data_frames_work_item on data_frames (work_item_id, name) where work_item_id is not null;
create trigger data_frames_removed after delete on data_frames
  referencing old table as gone for each statement execute function remove_file_bytes();

-- All that refers to bytes.
create view kept_bytes as select id from files union all select id from data_frames;

create or replace function remove_files_of_work_items() returns trigger language plpgsql as $$
begin
  delete from files where work_item_id in (select id from gone);
  delete from data_frames where work_item_id in (select id from gone);
  return null;
end $$;
