-- One index for each filter; a list of audits that names a span of time is ordered by (at, id).
create index audits_at on audits (at, id);
create index audits_request on audits (request_id, id) where request_id is not null;
create index audits_target_id on audits (target_id, id);
create index audits_target_type on audits (target_type, id);
drop index audits_target;

-- The position and hash of an entry, signed with a key that the database does not have: who can only write here cannot
-- rewrite what comes before it. `number` counts those of kind `interval` from 1 without a gap. That of kind `retention`
-- is at the last entry that retention removed, and has the number of the last one of kind `interval` up to there.
create table audit_checkpoints (
  kind text not null check (kind in ('interval', 'retention')),
  number bigint not null,
  position bigint not null,
  hash text not null,
  at timestamptz(3) not null,
  key_id text not null,
  signature text not null,
  primary key (kind, position)
);
create index audit_checkpoints_number on audit_checkpoints (number, kind);

-- Only the signature may change, when the encryption key does. What retention has passed may go.
create function audit_checkpoints_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if (to_jsonb(new) - 'key_id' - 'signature') = (to_jsonb(old) - 'key_id' - 'signature') then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if exists (select from audit_checkpoints c where c.kind = 'retention' and c.position >= old.position
      and (c.kind, c.position) <> (old.kind, old.position)) then
      return old;
    end if;
  end if;
  raise exception 'the checkpoints of the audit log are append-only';
end $$;
create trigger audit_checkpoints_append_only before update or delete on audit_checkpoints
  for each row execute function audit_checkpoints_append_only();
create trigger audit_checkpoints_no_truncate before truncate on audit_checkpoints
  for each statement execute function audit_checkpoints_append_only();

-- Append-only: only the chain's two columns may be filled, once, and only entries up to a checkpoint of retention may
-- go, never the last of the chain. Whether the checkpoint is signed is checked when the log is verified.
create or replace function audits_append_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.position is null and new.position is not null
      and (to_jsonb(new) - 'position' - 'hash') = (to_jsonb(old) - 'position' - 'hash') then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if exists (select from audit_checkpoints c where c.kind = 'retention' and c.position >= old.position)
      and exists (select from audits a where a.position > old.position) then
      return old;
    end if;
  end if;
  raise exception 'the audit log is append-only';
end $$;
create trigger audits_no_truncate before truncate on audits
  for each statement execute function audits_append_only();

-- How far the chain was copied to standard output (AUDIT_TO_LOG), by whichever replica held the row.
create table audit_copy (
  singleton boolean primary key default true check (singleton),
  position bigint not null
);
insert into audit_copy (position) values (0);
