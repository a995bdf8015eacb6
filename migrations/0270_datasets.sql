-- Datasets and their cases, which experiments run agents on.
create table datasets (
  id uuid primary key,
  name text not null,
  description text,
  mode text not null check (mode in ('worker', 'conversational')),
  graders json not null,
  case_count integer not null default 0,
  -- Also raised by a change of its cases.
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create unique index datasets_name on datasets (name);

-- What lists of cases read. The rest of a case is in its contents. The row of its dataset is always locked first.
create table cases (
  id uuid primary key,
  dataset_id uuid not null references datasets (id) on delete cascade,
  name text not null,
  tags text[] not null,
  enabled boolean not null,
  has_tape boolean not null,
  -- SHA-256 (hex) of the transcript; null without a tape.
  transcript_hash text,
  -- The run that it was made of: {work_item_id | run_id, agent_id, agent_version, status, error}.
  source jsonb,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
create unique index cases_name on cases (dataset_id, name);
create index cases_dataset on cases (dataset_id, id);

-- One row a revision of a case, which never changes. Without a foreign key: what a trial ran on outlives its case. `json`
-- keeps the order of keys.
create table case_contents (
  id uuid primary key,
  case_id uuid not null,
  revision integer not null,
  name text not null,
  message text not null,
  payload json not null,
  history json not null,
  -- JSON null: nothing is expected.
  expected json not null,
  graders json not null,
  -- {messages, continuations}; null: no tape.
  tape json,
  -- The data frames that calls of the tape made: [{tool_call_id, data_frame}].
  made json not null,
  -- Sealed: what belongs to the replies of the tape and is never shown. Null: nothing.
  replies text,
  created_at timestamptz(3) not null default platform_now()
);
create unique index case_contents_case on case_contents (case_id, revision);

-- The contents that something else than their case needs.
create view used_case_contents as select null::uuid as case_id, null::integer as revision where false;

-- Removes the contents of these cases that nothing needs any more.
create function remove_unused_case_contents(ids uuid[]) returns void language plpgsql as $$
begin
  delete from case_contents c where c.case_id = any(ids)
    and not exists (select from cases k where k.id = c.case_id and k.revision = c.revision)
    and not exists (select from used_case_contents u where u.case_id = c.case_id and u.revision = c.revision);
end $$;

create function remove_contents_of_cases() returns trigger language plpgsql as $$
begin
  perform remove_unused_case_contents(array(select id from gone));
  return null;
end $$;
create trigger cases_changed after update on cases
  referencing old table as gone for each statement execute function remove_contents_of_cases();
create trigger cases_removed after delete on cases
  referencing old table as gone for each statement execute function remove_contents_of_cases();

-- Files and data frames of cases and of trials, without foreign keys as those of Work Items.
alter table files
  add column case_id uuid,
  add column trial_id uuid,
  drop constraint files_check,
  add constraint files_check check (num_nonnulls(conversation_id, work_item_id, case_id, trial_id) = 1);
create unique index files_case on files (case_id, name) where case_id is not null;
create unique index files_trial on files (trial_id, name) where trial_id is not null;

alter table data_frames
  add column case_id uuid,
  add column trial_id uuid,
  drop constraint data_frames_check,
  add constraint data_frames_check check (num_nonnulls(conversation_id, work_item_id, case_id, trial_id) = 1);
create unique index data_frames_case on data_frames (case_id, name) where case_id is not null;
create unique index data_frames_trial on data_frames (trial_id, name) where trial_id is not null;

-- The files of a case stay as long as a revision of it.
create function remove_files_of_cases() returns trigger language plpgsql as $$
begin
  delete from files f where f.case_id in (select case_id from gone)
    and not exists (select from case_contents c where c.case_id = f.case_id);
  delete from data_frames f where f.case_id in (select case_id from gone)
    and not exists (select from case_contents c where c.case_id = f.case_id);
  return null;
end $$;
create trigger case_contents_removed after delete on case_contents
  referencing old table as gone for each statement execute function remove_files_of_cases();

-- The usage of a reply, and how people continued a run: [{after, message, decisions}]. Cases replay both.
alter table conversation_messages add column usage jsonb;
alter table conversation_runs add column continuations jsonb;
