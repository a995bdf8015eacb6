-- Persons, who sign in with an identity provider.
create table users (
  id uuid primary key,
  subject text not null unique,
  email text,
  name text not null,
  role text not null check (role in ('member', 'builder', 'admin')),
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);

create table api_keys (
  id uuid primary key,
  name text not null,
  kind text not null check (kind in ('service_account', 'personal')),
  -- A service account's own role; a personal key has its person's current one.
  role text check (role in ('member', 'builder', 'admin')),
  user_id uuid references users (id) on delete cascade,
  -- SHA-256 of the value, which has 256 bits of chance in it: nothing to guess, so nothing to slow down.
  value_hash text not null unique,
  prefix text not null,
  created_by text not null,
  created_at timestamptz(3) not null default platform_now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  check ((kind = 'personal') = (user_id is not null)),
  check ((kind = 'service_account') = (role is not null))
);
create index api_keys_created_by on api_keys (created_by);
