create table idempotency_keys (
  principal_id text not null,
  key text not null,
  request_hash text not null,
  -- Encrypted; null only inside the transaction that makes it.
  answer text,
  created_at timestamptz(3) not null default platform_now(),
  primary key (principal_id, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);
