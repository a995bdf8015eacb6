-- Alert rules, and the alerts that they fire.
create table alert_rules (
  id uuid primary key default new_id(),
  name text not null,
  kind text not null check (kind in ('missed', 'late', 'failing', 'waiting', 'integration', 'tool_server', 'budget',
    'trigger', 'no_scheduler')),
  enabled boolean not null default true,
  severity text not null check (severity in ('error', 'warning', 'info')),
  -- As its kind has them, with defaults.
  params jsonb not null,
  -- Both null: a rule of the workspace.
  agent_id uuid references agents (id) on delete cascade,
  schedule_id uuid references schedules (id) on delete cascade,
  revision integer not null default 1,
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now(),
  check (agent_id is null or schedule_id is null)
);
create index alert_rules_agent on alert_rules (agent_id) where agent_id is not null;
create index alert_rules_schedule on alert_rules (schedule_id) where schedule_id is not null;

-- Without foreign keys: an alert stays in the history when its rule and its subject are gone.
create table alerts (
  id uuid primary key default new_id(),
  rule_id uuid not null,
  kind text not null,
  severity text not null,
  -- Null: the alert is about no one thing, or about more than have an alert each (`members`).
  subject_type text,
  subject_id text,
  subject_name text,
  agent_id uuid,
  state text not null default 'firing' check (state in ('firing', 'resolved')),
  count integer not null default 1,
  title text not null,
  detail text not null,
  -- It says what only administrators may see.
  for_admins boolean not null default false,
  -- The latest event that it is about: an older one fires no second alert.
  cause_at timestamptz(3) not null,
  -- [{id, name, agent_id, at (milliseconds since 1970), over}]
  members jsonb,
  fired_at timestamptz(3) not null default platform_now(),
  resolved_at timestamptz(3),
  acknowledged_at timestamptz(3),
  -- {kind, id, name}
  acknowledged_by jsonb,
  note text,
  check ((state = 'firing') = (resolved_at is null)),
  check ((acknowledged_at is null) = (acknowledged_by is null))
);
-- One alert fires for a rule and a subject, whichever replica looks.
create unique index alerts_firing on alerts (rule_id, coalesce(subject_id, '')) where state = 'firing';
create index alerts_firing_by_kind on alerts (kind, id) where state = 'firing';
create index alerts_resolved on alerts (resolved_at) where resolved_at is not null;
create index alerts_kind on alerts (kind, id);
create index alerts_rule on alerts (rule_id, id);
create index alerts_agent on alerts (agent_id, id) where agent_id is not null;

-- Since when something holds that an alert is fired for only after a while, if no other table knows.
create table alert_conditions (
  rule_id uuid not null references alert_rules (id) on delete cascade,
  subject_id text not null,
  since timestamptz(3) not null default platform_now(),
  primary key (rule_id, subject_id)
);

-- When a replica last looked.
create table alert_pass (
  only_row boolean primary key default true check (only_row),
  at timestamptz(3)
);
insert into alert_pass default values;

-- `seconds` of a rule is at least the five seconds of this condition.
create index occurrences_late on occurrences (at) include (schedule_id, scheduled_for)
  where outcome in ('fired', 'caught_up') and at - scheduled_for > interval '5 seconds';
create index reviews_of_work_items on reviews (opened_at) where state = 'open' and source = 'work_item';
create index reviews_escalated on reviews (id) where state = 'open' and escalated_at is not null;
create index budget_periods_end on budget_periods (budget_id, ends_at);

insert into alert_rules (name, kind, severity, params)
values
  ('Missed occurrences', 'missed', 'error', '{"grace_seconds": null}'),
  ('Late occurrences', 'late', 'warning', '{"seconds": 30}'),
  ('Failing agents', 'failing', 'error', '{"failures": 3, "of": 5}'),
  ('Waiting reviews', 'waiting', 'warning', '{"minutes": 60}'),
  ('Integrations that do not deliver', 'integration', 'error', '{"minutes": 10}'),
  ('Failing tool servers', 'tool_server', 'warning', '{"minutes": 5}'),
  ('Budgets that are nearly used up', 'budget', 'warning', '{"percent": 80}'),
  ('Triggers that receive nothing', 'trigger', 'error', '{"minutes": 5, "unread": 1000}'),
  ('No scheduler', 'no_scheduler', 'error', '{"seconds": 30}');
