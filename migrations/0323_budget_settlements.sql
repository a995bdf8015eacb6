-- What charges spend is only added, a row for each share and each statement that stores charges, so that no two of their
-- transactions wait for each other. Each replica adds the rows of its shares to them each second. A row whose share is gone, or
-- that has none (charges of external workers), is late: it is added to `closed` of its period, by a replica that spends there, or
-- by the next grant. No foreign keys, which would lock what they name.
create table budget_settlements (
  period_id uuid not null,
  share_id uuid,
  spent bigint not null,
  assumed bigint not null
);
create index budget_settlements_period on budget_settlements (period_id);
create index budget_settlements_share on budget_settlements (share_id);

alter table budget_shares add column spent bigint not null default 0, add column assumed bigint not null default 0;
update budget_shares s set spent = x.spent, assumed = x.assumed from budget_spendings x where x.share_id = s.id;
insert into budget_settlements (period_id, spent, assumed) select period_id, spent, assumed from budget_late_spendings;

-- Sums are at most 9e15, as amounts are: workers may report any amount, and a sum beyond bigint would make every reader fail.
create or replace view budget_totals as
select p.id as period_id,
  least(p.closed + late.spent + held.spent, 9e15)::bigint as spent,
  least(p.closed_assumed + late.assumed + held.assumed, 9e15)::bigint as assumed,
  held.reserved,
  held.shares
from budget_periods p
cross join lateral (
  select coalesce(sum(t.spent), 0) as spent, coalesce(sum(t.assumed), 0) as assumed
  from budget_settlements t
  where t.period_id = p.id and not exists (select from budget_shares s where s.id = t.share_id)
) late
cross join lateral (
  select coalesce(sum(s.spent + settled.spent), 0) as spent, coalesce(sum(s.assumed + settled.assumed), 0) as assumed,
    coalesce(sum(greatest(s.granted - s.spent - settled.spent, 0)), 0)::bigint as reserved, count(*)::integer as shares
  from budget_shares s cross join lateral (
    select coalesce(sum(t.spent), 0) as spent, coalesce(sum(t.assumed), 0) as assumed
    from budget_settlements t where t.share_id = s.id
  ) settled
  where s.period_id = p.id
) held;

drop table budget_spendings;
drop table budget_late_spendings;
drop function close_late_budget_spendings(uuid[]);

-- Adds what was spent without a share to `closed` of locked periods.
create function close_late_budget_settlements(periods uuid[]) returns void language plpgsql as $$
begin
  with gone as (
    delete from budget_settlements t
    where t.period_id = any(periods) and not exists (select from budget_shares s where s.id = t.share_id) returning *
  ), sums as (
    select period_id, sum(spent) as spent, sum(assumed) as assumed from gone group by period_id
  )
  update budget_periods p set closed = least(p.closed + s.spent, 9e15)::bigint,
    closed_assumed = least(p.closed_assumed + s.assumed, 9e15)::bigint
  from sums s where p.id = s.period_id;
end $$;

-- Adds what was spent to the shares of a replica, and to `closed` of those of `periods` in which something is late. Shares are
-- locked in the order of their ids, after periods and before the rows.
create function add_budget_settlements(replica uuid, periods uuid[]) returns void language plpgsql as $$
declare
  locked uuid[];
begin
  select array_agg(late.id) into locked from (
    select p.id from budget_periods p
    where p.id = any(periods) and exists (select from budget_settlements t
      where t.period_id = p.id and not exists (select from budget_shares s where s.id = t.share_id))
    order by p.id for no key update
  ) late;
  if locked is not null then perform close_late_budget_settlements(locked); end if;

  select array_agg(own.id) into locked from (
    select s.id from budget_shares s
    where s.replica_id = replica and exists (select from budget_settlements t where t.share_id = s.id)
    order by s.id for no key update
  ) own;
  with gone as (
    delete from budget_settlements t where t.share_id = any(locked) returning *
  ), sums as (
    select share_id, sum(spent) as spent, sum(assumed) as assumed from gone group by share_id
  )
  update budget_shares s set spent = least(s.spent + x.spent, 9e15)::bigint, assumed = least(s.assumed + x.assumed, 9e15)::bigint
  from sums x where s.id = x.share_id;
end $$;

-- Closes shares: what was spent goes to `closed` of their periods, and the rest is free. A share that another transaction
-- locks stays, because a replica may stand still in the middle of one. Returns the ids of those that are closed.
create or replace function close_budget_shares(ids uuid[]) returns uuid[] language plpgsql as $$
declare
  share record;
  settled record;
  closed uuid[] := '{}';
begin
  perform from budget_periods p where p.id in (select s.period_id from budget_shares s where s.id = any(ids))
    order by p.id for no key update;
  for share in
    select s.id, s.period_id, s.spent, s.assumed from budget_shares s
    where s.id = any(ids) order by s.id for update skip locked
  loop
    with gone as (delete from budget_settlements t where t.share_id = share.id returning t.spent, t.assumed)
    select coalesce(sum(g.spent), 0) as spent, coalesce(sum(g.assumed), 0) as assumed into settled from gone g;
    update budget_periods p set closed = least(p.closed + share.spent + settled.spent, 9e15)::bigint,
      closed_assumed = least(p.closed_assumed + share.assumed + settled.assumed, 9e15)::bigint
      where p.id = share.period_id;
    delete from budget_shares s where s.id = share.id;
    closed := closed || share.id;
  end loop;
  return closed;
end $$;

-- Gives room to a replica. `calls`: a list of lists of needs; a call gets all that it needs or nothing. A need is {budget_id,
-- subject_id, starts_at, ends_at, period_id (of a new one), share_id, short, bound, more}: `short` is what it must get, `more`
-- asks for up to 16 bounds. Returns a list of {call, need, ok, period_id, granted (null: no share), spent, assumed, limit,
-- extra}, without the needs of budgets that are gone; null if the replica is lost. It has several statements on purpose: one
-- that waited for the lock of a period would sum the shares by its snapshot from before, and grant what others were granted
-- in the meantime.
create or replace function grant_budget_shares(replica uuid, calls jsonb) returns jsonb language plpgsql as $$
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
  perform close_late_budget_settlements(periods);

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
      end if;
      results := results || jsonb_build_object('call', c, 'need', need.need, 'ok', fits, 'period_id', need.period_id,
        'granted', total, 'spent', need.spent, 'assumed', need.assumed, 'limit', need.limit, 'extra', need.extra);
    end loop;
  end loop;
  return results;
end $$;
