-- The claims of external workers. A lease is the Work Item's own while the fencing tokens are equal; the row stays, so
-- that a repeated finish is recognized and a late one recorded.
create table external_leases (
  -- SHA-256 of the lease token, which has 256 bits of chance in it.
  token_hash text primary key,
  work_item_id uuid not null references work_items (id) on delete cascade,
  fencing bigint not null,
  -- The length that the claim asked for: each heartbeat extends the lease by it.
  lease_seconds integer not null,
  -- SHA-256 of the finish that ended it; null before.
  finish_hash text
);
create index external_leases_item on external_leases (work_item_id);
