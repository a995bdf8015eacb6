-- Experiments: trials of a version of an agent over the cases of a dataset.
create table experiments (
  id uuid primary key,
  dataset_id uuid not null references datasets on delete cascade,
  agent_id uuid not null references agents on delete cascade,
  agent_version integer not null,
  repetitions integer not null,
  tools text not null check (tools in ('replay', 'idempotent_live')),
  replay_order text not null check (replay_order in ('any_order', 'strict')),
  on_divergence text not null check (on_divergence in ('end', 'error')),
  model text not null check (model in ('live', 'recorded')),
  approvals text not null check (approvals in ('auto_approve', 'auto_deny')),
  graders json not null,
  tags text[] not null,
  reuse boolean not null,
  llms jsonb not null,
  publication_id uuid,
  -- Its trials, none of which is ever added or removed.
  trials integer not null,
  cancelled_at timestamp(3) with time zone,
  -- Set when its last trial has ended.
  finished_at timestamp(3) with time zone,
  created_by text not null,
  created_at timestamp(3) with time zone not null default platform_now()
);
create index experiments_dataset on experiments (dataset_id, id);
create index experiments_agent on experiments (agent_id, id);
create index experiments_finished on experiments (finished_at) where finished_at is not null;
create index experiments_open on experiments (id) where finished_at is null;

-- A trial is no Work Item: a replica of an earlier release would claim one and call real tools. The columns that every kind
-- of run has are here too, also those that a trial never needs: all of it is in memory until its end.
create table trials (
  id uuid primary key,
  experiment_id uuid not null references experiments on delete cascade,
  agent_id uuid not null,
  agent_version integer,
  case_id uuid not null,
  case_revision integer not null,
  case_name text not null,
  repetition integer not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'needs_review', 'error', 'cancelled')),
  -- How the agent did in a completed one.
  verdict text check (verdict in ('completed', 'failed', 'diverged')),
  outcome text generated always as (
    case status when 'completed' then verdict when 'error' then 'error' when 'cancelled' then 'cancelled' end
  ) stored,
  result json,
  error jsonb,
  messages json,
  transcript_hash text,
  divergences json,
  unused_calls integer,
  score double precision,
  usage jsonb,
  model text,
  duration_ms integer,
  reused_from uuid,
  attempts integer not null default 0,
  fencing bigint not null default 0,
  lease_owner text,
  lease_expires_at timestamp(3) with time zone,
  not_before timestamp(3) with time zone,
  cancel_requested_at timestamp(3) with time zone,
  trace_id text,
  pending_approvals jsonb,
  decisions jsonb,
  unsafe_calls jsonb,
  tokens_before bigint not null default 0,
  created_by text not null,
  created_at timestamp(3) with time zone not null default platform_now(),
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  unique (experiment_id, case_id, repetition),
  check ((status = 'running') = (lease_expires_at is not null))
);
create index trials_queued on trials (created_at, id) where status = 'queued';
create index trials_leases on trials (lease_expires_at) where status = 'running';
create index trials_open on trials (experiment_id) where status in ('queued', 'running');
create index trials_page on trials (experiment_id, id);
-- Trials that another experiment may take over.
create index trials_reuse on trials (agent_id, agent_version, case_id, case_revision, repetition, finished_at)
  where status = 'completed';

create table scores (
  trial_id uuid not null references trials on delete cascade,
  grader text not null,
  position integer not null,
  type text not null,
  -- SHA-256 of the grader: a trial that is taken over keeps the scores of equal graders.
  definition_hash text not null,
  value double precision,
  label text check (label in ('pass', 'fail', 'error')),
  explanation text,
  usage jsonb,
  judge_key text,
  primary key (trial_id, grader)
);

-- Judges that gave a score, by what makes them the same one.
create table judges (
  key text primary key,
  id uuid not null unique,
  rubric text not null,
  llm_id uuid not null,
  model text not null,
  votes integer not null
);

-- A label outlives its trial: it calibrates its judge.
create table labels (
  trial_id uuid not null,
  grader text not null,
  principal_id text not null,
  principal_name text not null,
  verdict text not null check (verdict in ('pass', 'fail')),
  comment text,
  judge_key text,
  -- What the judge said of the trial; null if it gave no verdict.
  judge_verdict text check (judge_verdict in ('pass', 'fail')),
  created_at timestamp(3) with time zone not null default platform_now(),
  primary key (trial_id, grader, principal_id)
);
create index labels_judge on labels (judge_key, trial_id) where judge_key is not null;

-- A content of a case stays as long as a trial has it.
create or replace view used_case_contents as select case_id, case_revision as revision from trials;
create index trials_contents on trials (case_id, case_revision);

-- The data frames of a trial go with it.
create function remove_frames_of_trials() returns trigger language plpgsql as $$
begin
  delete from data_frames where trial_id in (select id from gone);
  return null;
end $$;
create trigger trials_removed after delete on trials
  referencing old table as gone for each statement execute function remove_frames_of_trials();
