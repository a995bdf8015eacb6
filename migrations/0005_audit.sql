-- Written in the transaction of the change. The chain is made a moment later, by one loop at a time, so that
-- changes never queue for it: `position` counts from 1 without a gap and `hash` covers the one before.
create table audits (
  id uuid primary key,
  at timestamptz(3) not null default platform_now(),
  principal_kind text not null,
  principal_id text not null,
  principal_name text not null,
  action text not null,
  target_type text not null,
  target_id text,
  outcome text not null check (outcome in ('done', 'refused')),
  details jsonb not null,
  request_id text,
  position bigint unique,
  hash text
);
create index audits_unchained on audits (id) where position is null;
create index audits_target on audits (target_type, target_id, id);
create index audits_principal on audits (principal_id, id);

-- Append-only: only the chain's two columns may be filled, once.
create function audits_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.position is null and new.position is not null
    and (to_jsonb(new) - 'position' - 'hash') = (to_jsonb(old) - 'position' - 'hash') then
    return new;
  end if;
  raise exception 'the audit log is append-only';
end $$;
create trigger audits_append_only before update or delete on audits
  for each row execute function audits_append_only();
