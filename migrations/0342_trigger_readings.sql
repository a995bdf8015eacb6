-- How triggers read their brokers, as the replica that last looked saw it, and what is kept in case a broker loses its
-- position. Without a foreign key: the row of a deleted trigger names the consumer that is still to be deleted.
create table trigger_readings (
  trigger_id uuid primary key,
  -- A consumer of the platform's own in JetStream; null for others.
  connection_id uuid,
  stream text,
  consumer text,
  -- Distinguishes the stream or topic from one that is made again under the same name; null before the first reading.
  source_id text,
  -- [{partition, next, end}]
  positions jsonb not null default '[]',
  -- Null while it is not read.
  state text check (state in ('ok', 'connecting', 'failing')),
  lag bigint,
  -- Since when many messages wait; null: they do not.
  behind_since timestamptz(3),
  last_error text,
  last_read_at timestamptz(3),
  updated_at timestamptz(3) not null default platform_now()
);
