-- Versions of agents. The row of an agent keeps the content that is published: claims read it, and so does the release
-- before. A draft is a column of it.

-- Returns a UUIDv7 (RFC 9562), so that what has one is in order.
create function new_uuid7() returns uuid language sql volatile as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(
    int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

alter table agents
  add column release text default 'automatic' not null,
  add column version integer default 1 not null,
  add column latest_version integer default 1 not null,
  -- Its row in the ledger, with which it got the version that is published.
  add column publication_id uuid default new_uuid7() not null,
  add column draft json,
  add column canary jsonb,
  add constraint agents_release_check check (release in ('automatic', 'manual'));

-- What a version freezes: all columns but these. A column that is added later is content, unless this is replaced.
create function agent_content(agent agents) returns json language sql stable as $$
  select json_object_agg(key, value) from json_each(row_to_json(agent))
  where key not in ('id', 'name', 'description', 'mode', 'callbacks', 'max_concurrency', 'release', 'version',
    'latest_version', 'publication_id', 'draft', 'canary', 'revision', 'created_at', 'updated_at')
$$;

create table agent_versions (
  agent_id uuid not null references agents (id) on delete cascade,
  number integer not null,
  content json not null,
  first_run jsonb,
  -- Null until it is published for the first time.
  published_at timestamp(3) with time zone,
  -- Null if a replica of the release before made it.
  created_by text,
  created_at timestamp(3) with time zone default platform_now() not null,
  primary key (agent_id, number)
);

create table agent_publications (
  id uuid primary key,
  agent_id uuid not null references agents (id) on delete cascade,
  kind text not null,
  state text not null,
  from_version integer,
  version integer not null,
  note text,
  reason text,
  overridden boolean default false not null,
  published_by jsonb,
  created_at timestamp(3) with time zone default platform_now() not null,
  finished_at timestamp(3) with time zone,
  constraint agent_publications_kind_check check (kind in ('automatic', 'publish', 'rollback', 'promote')),
  constraint agent_publications_state_check
    check (state in ('checking', 'published', 'passed', 'blocked', 'inconclusive', 'cancelled'))
);
create index agent_publications_agent on agent_publications (agent_id, id);

-- Returns the number of the version with this content: the newest one if that has it, else the next. The caller has
-- locked the agent.
create function freeze_agent_version(agent uuid, frozen json) returns integer language plpgsql as $$
declare
  newest agent_versions;
begin
  select * into newest from agent_versions where agent_id = agent order by number desc limit 1;
  if newest.content::jsonb = frozen::jsonb then
    return newest.number;
  end if;
  insert into agent_versions (agent_id, number, content) values (agent, coalesce(newest.number, 0) + 1, frozen);
  return coalesce(newest.number, 0) + 1;
end
$$;

create function record_agent_publication(publication uuid, agent uuid, before integer, after integer) returns void
language sql as $$
  update agent_versions set published_at = platform_now() where agent_id = agent and number = after;
  insert into agent_publications (id, agent_id, kind, state, from_version, version, finished_at)
  values (publication, agent, 'automatic', 'published', before, after, platform_now());
$$;

-- The release before knows nothing of versions: it changes the content, and this makes the version of it. Who knows them
-- gives the publication with the change.
create function agents_version() returns trigger language plpgsql as $$
begin
  if new.publication_id = old.publication_id and agent_content(new)::jsonb <> agent_content(old)::jsonb then
    new.version := freeze_agent_version(new.id, agent_content(new));
    new.latest_version := greatest(new.latest_version, new.version);
    new.publication_id := new_uuid7();
    perform record_agent_publication(new.publication_id, new.id, old.version, new.version);
  end if;
  return new;
end
$$;
create trigger agents_version before update on agents for each row execute function agents_version();

create function agents_first_version() returns trigger language plpgsql as $$
begin
  perform freeze_agent_version(new.id, agent_content(new));
  perform record_agent_publication(new.publication_id, new.id, null, 1);
  return null;
end
$$;
create trigger agents_first_version after insert on agents for each row execute function agents_first_version();

select freeze_agent_version(a.id, agent_content(a)), record_agent_publication(a.publication_id, a.id, null, 1)
from agents a;

-- What agents may run next: drafts, and the versions of canaries. What these name is not deleted.
create view agent_other_contents as
  select id as agent_id, draft::jsonb as content from agents where draft is not null
  union all
  select v.agent_id, v.content::jsonb from agents a
  join agent_versions v on v.agent_id = a.id and v.number = (a.canary ->> 'version')::integer
  where a.canary is not null;

-- The version that a claim pinned; null before the first, and for what was claimed before there were versions.
alter table work_items add column agent_version integer;
alter table conversation_runs add column agent_version integer;
alter table callback_deliveries add column agent_version integer;

-- What counts the arms of a canary of a conversational agent, and the agents that have one.
create index conversation_runs_agent_finished on conversation_runs (agent_id, finished_at) where finished_at is not null;
create index agents_canary on agents (id) where canary is not null;
