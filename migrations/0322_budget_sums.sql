-- Sums of what budgets spent are at most 9e15, as amounts are: workers may report any amount, and a sum beyond bigint would
-- make every reader of the period fail.
create or replace view budget_totals as
select p.id as period_id,
  least(p.closed + late.spent + held.spent, 9e15)::bigint as spent,
  least(p.closed_assumed + late.assumed + held.assumed, 9e15)::bigint as assumed,
  held.reserved,
  held.shares
from budget_periods p
cross join lateral (
  select least(coalesce(sum(l.spent), 0), 9e15)::bigint as spent,
    least(coalesce(sum(l.assumed), 0), 9e15)::bigint as assumed
  from budget_late_spendings l where l.period_id = p.id
) late
cross join lateral (
  select least(coalesce(sum(x.spent), 0), 9e15)::bigint as spent,
    least(coalesce(sum(x.assumed), 0), 9e15)::bigint as assumed,
    coalesce(sum(greatest(s.granted - x.spent, 0)), 0)::bigint as reserved, count(*)::integer as shares
  from budget_shares s join budget_spendings x on x.share_id = s.id where s.period_id = p.id
) held;

-- Adds what was spent without a share to `closed` of locked periods.
create or replace function close_late_budget_spendings(periods uuid[]) returns void language plpgsql as $$
begin
  with gone as (
    delete from budget_late_spendings where period_id = any(periods) returning *
  ), sums as (
    select period_id, sum(spent) as spent, sum(assumed) as assumed from gone group by period_id
  )
  update budget_periods p set closed = least(p.closed + s.spent, 9e15)::bigint,
    closed_assumed = least(p.closed_assumed + s.assumed, 9e15)::bigint
  from sums s where p.id = s.period_id;
end $$;

-- Closes shares: what was spent goes to `closed` of their periods, and the rest is free. A share whose spending a transaction
-- locks stays, because a replica that stands still may hold that lock for seconds. Returns the ids of those that are closed.
create or replace function close_budget_shares(ids uuid[]) returns uuid[] language plpgsql as $$
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
    update budget_periods p set closed = least(p.closed + share.spent, 9e15)::bigint,
      closed_assumed = least(p.closed_assumed + share.assumed, 9e15)::bigint
      where p.id = share.period_id;
    delete from budget_shares s where s.id = share.id;
    closed := closed || share.id;
  end loop;
  return closed;
end $$;

-- Takes back what a replica does not need: `given` is a list of {id, keep}. It keeps `keep`; null closes the share. Returns the
-- ids of the shares that were to be closed and are gone: those of a budget that was deleted, or that a transaction closed whose
-- end the replica does not know, are gone already.
create or replace function return_budget_shares(given jsonb) returns uuid[] language plpgsql as $$
declare
  closing uuid[] := array(select g.id from jsonb_to_recordset(given) as g(id uuid, keep bigint) where g.keep is null);
  wanted boolean;
begin
  perform from budget_periods p where p.id in (
    select s.period_id from budget_shares s join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id
  ) order by p.id for no key update;
  wanted := exists (select from budget_periods p join budget_shares s on s.period_id = p.id
    join jsonb_to_recordset(given) as g(id uuid) on g.id = s.id where p.wanted_at > platform_now() - interval '3 seconds');
  update budget_shares s set granted = g.keep from jsonb_to_recordset(given) as g(id uuid, keep bigint)
    where s.id = g.id and g.keep < s.granted;
  perform close_budget_shares(closing);
  if wanted then perform pg_notify('budget_room', ''); end if;
  return array(select id from unnest(closing) as c(id) where not exists (select from budget_shares s where s.id = c.id));
end $$;

-- A budget counts from two seconds after its creation on, by when every replica knows it. A creation that took longer, such as
-- that of a whole workspace, moves that to two seconds after its end. A time in the past was set on purpose.
create function postpone_budget() returns trigger language plpgsql as $$
begin
  update budgets set effective_from = platform_now() + interval '2 seconds'
    where id = new.id and effective_from > new.created_at and effective_from < platform_now() + interval '1.5 seconds';
  return null;
end $$;
create constraint trigger budgets_postponed after insert on budgets deferrable initially deferred
  for each row execute function postpone_budget();
