-- Budgets: what the model calls of a period may cost, or how many tokens they may have.
create table budgets (
  id uuid primary key,
  name text not null unique,
  -- {kind, id}; id null: each subject of the kind has the limit for itself.
  scope jsonb not null,
  unit text not null check (unit in ('nano_usd', 'tokens')),
  "limit" bigint not null,
  period text not null check (period in ('day', 'week', 'month', 'total')),
  timezone text not null,
  action text not null check (action in ('refuse', 'wait', 'ask', 'cheaper')),
  llm_id uuid references llm_configurations,
  from_percent integer not null,
  notify_percent jsonb not null,
  enabled boolean not null,
  -- Calls that began before count nothing: by then every replica knows the budget.
  effective_from timestamp(3) with time zone not null,
  revision integer not null default 1,
  created_at timestamp(3) with time zone not null default platform_now(),
  updated_at timestamp(3) with time zone not null default platform_now()
);
create index budgets_llm on budgets (llm_id) where llm_id is not null;

-- One period of one subject. The sum of what its shares hold (granted, or spent if that is more) and of `closed` is at most
-- limit + extra: whoever changes `granted` or `closed` holds the lock of this row. Rows are locked in the order of their ids.
create table budget_periods (
  id uuid primary key,
  budget_id uuid not null references budgets on delete cascade,
  -- The id of the subject; empty for the workspace.
  subject_id text not null,
  starts_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone,
  -- Spent through shares that are closed, and the part of it that was assumed.
  closed bigint not null default 0,
  closed_assumed bigint not null default 0,
  -- Added to the limit by approvals.
  extra bigint not null default 0,
  -- The last time at which a replica found no room.
  wanted_at timestamp(3) with time zone,
  -- The limit + extra for which a call was last refused.
  exhausted_at_limit bigint,
  -- The largest of `notify_percent` that was notified.
  notified_percent integer not null default 0,
  -- The most that was ever spent above limit + extra.
  overrun bigint not null default 0,
  unique (budget_id, subject_id, starts_at)
);

-- The replicas that hold shares. One that was not seen for the lease is lost: it never comes back under this id.
create table budget_replicas (
  id uuid primary key,
  seen_at timestamp(3) with time zone not null default platform_now(),
  lost boolean not null default false
);

-- The room that a replica holds in a period. Its calls reserve from it in memory.
create table budget_shares (
  id uuid primary key,
  period_id uuid not null references budget_periods on delete cascade,
  replica_id uuid not null,
  granted bigint not null
);
create index budget_shares_period on budget_shares (period_id);
create index budget_shares_replica on budget_shares (replica_id);

-- What was spent of a share. A row of its own: the transactions that store charges lock it until they commit, and a change
-- of `granted`, which other replicas may wait for, must not wait for them. Rows are locked in the order of their ids.
create table budget_spendings (
  share_id uuid primary key references budget_shares on delete cascade,
  spent bigint not null default 0,
  assumed bigint not null default 0
) with (fillfactor = 50);

-- Spent without a share: by external workers, or through a share that was closed in the meantime. Rows are only added, so
-- that storing a charge waits for no period; the next grant adds them to `closed`. No foreign key, which would lock it too.
create table budget_late_spendings (
  period_id uuid not null,
  spent bigint not null,
  assumed bigint not null
);
create index budget_late_spendings_period on budget_late_spendings (period_id);

create view budget_totals as
select p.id as period_id,
  p.closed + late.spent + held.spent as spent,
  p.closed_assumed + late.assumed + held.assumed as assumed,
  held.reserved,
  held.shares
from budget_periods p
cross join lateral (
  select coalesce(sum(l.spent), 0)::bigint as spent, coalesce(sum(l.assumed), 0)::bigint as assumed
  from budget_late_spendings l where l.period_id = p.id
) late
cross join lateral (
  select coalesce(sum(x.spent), 0)::bigint as spent, coalesce(sum(x.assumed), 0)::bigint as assumed,
    coalesce(sum(greatest(s.granted - x.spent, 0)), 0)::bigint as reserved, count(*)::integer as shares
  from budget_shares s join budget_spendings x on x.share_id = s.id where s.period_id = p.id
) held;

-- Creates the periods of `wanted` ([{budget_id, subject_id, starts_at, ends_at, period_id}]) that are not there yet.
create function create_budget_periods(wanted jsonb) returns void language plpgsql as $$
begin
  insert into budget_periods (id, budget_id, subject_id, starts_at, ends_at)
  select distinct on (w.budget_id, w.subject_id, w.starts_at) w.period_id, w.budget_id, w.subject_id, w.starts_at, w.ends_at
  from jsonb_to_recordset(wanted) as w(period_id uuid, budget_id uuid, subject_id text, starts_at timestamptz, ends_at timestamptz)
  where exists (select from budgets b where b.id = w.budget_id)
    and not exists (select from budget_periods p where p.budget_id = w.budget_id and p.subject_id = w.subject_id
      and p.starts_at = w.starts_at)
  -- In one order, because two replicas may insert the same ones.
  order by w.budget_id, w.subject_id, w.starts_at
  on conflict (budget_id, subject_id, starts_at) do nothing;
end $$;

-- Adds what was spent without a share to `closed` of locked periods.
create function close_late_budget_spendings(periods uuid[]) returns void language plpgsql as $$
begin
  with gone as (
    delete from budget_late_spendings where period_id = any(periods) returning *
  ), sums as (
    select period_id, sum(spent) as spent, sum(assumed) as assumed from gone group by period_id
  )
  update budget_periods p set closed = p.closed + s.spent, closed_assumed = p.closed_assumed + s.assumed
  from sums s where p.id = s.period_id;
end $$;

-- Gives room to a replica. `calls`: a list of lists of needs; a call gets all that it needs or nothing. A need is {budget_id,
-- subject_id, starts_at, ends_at, period_id (of a new one), share_id, short, bound, more}: `short` is what it must get, `more`
-- asks for up to 16 bounds. Returns a list of {call, need, ok, period_id, granted (null: no share), spent, assumed, limit,
-- extra}, without the needs of budgets that are gone; null if the replica is lost. It has several statements on purpose: one
-- that waited for the lock of a period would sum the shares by its snapshot from before, and grant what others were granted
-- in the meantime.
create function grant_budget_shares(replica uuid, calls jsonb) returns jsonb language plpgsql as $$
declare
  needs jsonb;
  periods uuid[];
  need record;
  checked jsonb;
  results jsonb := '[]';
  fits boolean;
  amount bigint;
  total bigint;
begin
  perform from budget_replicas r where r.id = replica and not r.lost;
  if not found then return null; end if;
  perform create_budget_periods((select jsonb_agg(n) from jsonb_array_elements(calls) c, jsonb_array_elements(c) n));

  select jsonb_agg(n.value || jsonb_build_object('call', c.i, 'need', n.i, 'period_id', p.id)), array_agg(p.id)
  into needs, periods
  from jsonb_array_elements(calls) with ordinality c(value, i)
  cross join jsonb_array_elements(c.value) with ordinality n(value, i)
  join budget_periods p on p.budget_id = (n.value ->> 'budget_id')::uuid and p.subject_id = n.value ->> 'subject_id'
    and p.starts_at = (n.value ->> 'starts_at')::timestamptz;
  if needs is null then return results; end if;
  perform from budget_periods p where p.id = any(periods) order by p.id for no key update;
  perform close_late_budget_spendings(periods);

  for c in 1..jsonb_array_length(calls) loop
    checked := '[]';
    fits := true;
    for need in
      select n.*, t.spent, t.assumed, b.limit + p.extra - t.spent - t.reserved as room, b.enabled, b.limit, p.extra,
        t.shares + (case when s.id is null then 1 else 0 end) as shares
      from jsonb_to_recordset(needs) as n(call integer, need integer, period_id uuid, share_id uuid, short bigint, bound bigint,
        more boolean)
      join budget_periods p on p.id = n.period_id join budgets b on b.id = p.budget_id
      join budget_totals t on t.period_id = p.id left join budget_shares s on s.id = n.share_id
      where n.call = c order by n.need
    loop
      amount := case when not need.enabled then 0 else greatest(0, least(need.room, greatest(need.short,
        case when need.more and need.room >= need.bound then least(16 * need.bound, need.room / (2 * need.shares)) else 0 end)))
        end;
      if need.enabled and need.short > need.room then
        fits := false;
        update budget_periods set wanted_at = platform_now() where id = need.period_id;
      end if;
      checked := checked || (to_jsonb(need) || jsonb_build_object('amount', amount));
    end loop;
    for need in
      select * from jsonb_to_recordset(checked) as n(need integer, period_id uuid, share_id uuid, amount bigint, spent bigint,
        assumed bigint, "limit" bigint, extra bigint)
    loop
      total := null;
      if fits then
        insert into budget_shares as s (id, period_id, replica_id, granted)
        values (need.share_id, need.period_id, replica, need.amount)
        on conflict (id) do update set granted = s.granted + excluded.granted returning granted into total;
        insert into budget_spendings (share_id) values (need.share_id) on conflict do nothing;
      end if;
      results := results || jsonb_build_object('call', c, 'need', need.need, 'ok', fits, 'period_id', need.period_id,
        'granted', total, 'spent', need.spent, 'assumed', need.assumed, 'limit', need.limit, 'extra', need.extra);
    end loop;
  end loop;
  return results;
end $$;

-- Closes shares: what was spent goes to `closed` of their periods, and the rest is free. A share whose spending a transaction
-- locks stays, because a replica that stands still may hold that lock for seconds. Returns the ids of those that are closed.
create function close_budget_shares(ids uuid[]) returns uuid[] language plpgsql as $$
declare
  share record;
  closed uuid[] := '{}';
begin
  perform from budget_periods p where p.id in (select s.period_id from budget_shares s where s.id = any(ids))
    order by p.id for no key update;
  for share in
    select s.id, s.period_id, x.spent, x.assumed from budget_spendings x join budget_shares s on s.id = x.share_id
    where s.id = any(ids) order by x.share_id for update of x skip locked
  loop
    update budget_periods p set closed = p.closed + share.spent, closed_assumed = p.closed_assumed + share.assumed
      where p.id = share.period_id;
    delete from budget_shares s where s.id = share.id;
    closed := closed || share.id;
  end loop;
  return closed;
end $$;

-- Takes back what a replica does not need: `given` is a list of {id, keep}. It keeps `keep`; null closes the share. Returns the
-- ids of the shares that are closed.
create function return_budget_shares(given jsonb) returns uuid[] language plpgsql as $$
declare
  closed uuid[];
  wanted boolean;
begin
  perform from budget_periods p where p.id in (
    select s.period_id from budget_shares s join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id
  ) order by p.id for no key update;
  wanted := exists (select from budget_periods p join budget_shares s on s.period_id = p.id
    join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id where p.wanted_at > platform_now() - interval '3 seconds');
  update budget_shares s set granted = g.keep from jsonb_to_recordset(given) as g(id uuid, keep bigint)
    where s.id = g.id and g.keep < s.granted;
  closed := close_budget_shares(array(select g.id from jsonb_to_recordset(given) as g(id uuid, keep bigint) where g.keep is null));
  if wanted then perform pg_notify('budget_room', ''); end if;
  return closed;
end $$;

-- Closes the shares of replicas that were not seen for so long, at most 200 at a time. Returns how many are closed.
create function close_lost_budget_shares(lease_seconds double precision) returns integer language plpgsql as $$
declare
  closed uuid[];
begin
  update budget_replicas r set lost = true where r.id in (
    select id from budget_replicas where not lost and seen_at < platform_now() - make_interval(secs => lease_seconds)
    order by id for update skip locked
  );
  closed := close_budget_shares(array(select s.id from budget_shares s
    where not exists (select from budget_replicas r where r.id = s.replica_id and not r.lost) limit 200));
  delete from budget_replicas r where r.lost and not exists (select from budget_shares s where s.replica_id = r.id);
  if closed <> '{}' then perform pg_notify('budget_room', ''); end if;
  return cardinality(closed);
end $$;
