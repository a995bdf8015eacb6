-- A person is (issuer, subject), both null until the first sign-in. The role is null while the person has no access.
alter table users
  alter column subject drop not null,
  alter column role drop not null,
  drop constraint users_subject_key,
  add column issuer text,
  add column email_verified boolean not null default false,
  add column role_source text not null default 'manual' check (role_source in ('mapping', 'manual', 'default')),
  add column status text not null default 'active' check (status in ('invited', 'active', 'suspended')),
  -- The last claims, without those that change at each sign-in: a change of mappings is evaluated from them.
  add column claims jsonb,
  add column last_sign_in_at timestamptz(3),
  -- The provider last confirmed the person: a sign-in or a refresh.
  add column last_confirmed_at timestamptz(3),
  add unique (issuer, subject),
  add check (issuer is null or subject is not null);
create index users_email on users (email, id);
create index users_subject on users (subject);
-- An e-mail binds one invitation.
create unique index users_invitation on users (email) where issuer is null and subject is null;

create table role_mappings (
  id uuid primary key,
  claim text not null,
  value text not null,
  role text not null check (role in ('member', 'builder', 'admin')),
  priority integer not null default 0 check (priority between 0 and 1000),
  created_at timestamptz(3) not null default platform_now(),
  updated_at timestamptz(3) not null default platform_now()
);
-- By hash: an index entry holds at most 2,704 bytes, and 700 characters may have more.
create unique index role_mappings_pair on role_mappings (md5(claim), md5(value));

alter table api_keys
  -- Null: all that the role allows.
  add column scopes text[],
  add column last_used_ip text,
  -- The key that a rotation made in place of this one.
  add column replaced_by uuid;
create index api_keys_user on api_keys (user_id) where user_id is not null;

create table sessions (
  id uuid primary key,
  -- SHA-256 of the cookie's value, which has 256 bits of chance in it.
  value_hash text not null unique,
  -- Who it acts as: the id of a person, of a service account's key, or `bootstrap`.
  principal_id text not null,
  method text not null check (method in ('oidc', 'api_key')),
  user_id uuid references users (id) on delete cascade,
  key_id uuid references api_keys (id) on delete cascade,
  -- SHA-256 of BOOTSTRAP_ADMIN_API_KEY when the session was made with it: the session ends with that key.
  bootstrap_hash text,
  -- The provider's `sid`, by which a back-channel logout names the session.
  provider_sid text,
  id_token text,
  refresh_token text,
  ip text,
  user_agent text,
  created_at timestamptz(3) not null default platform_now(),
  last_seen_at timestamptz(3) not null default platform_now(),
  -- The provider last confirmed the session.
  confirmed_at timestamptz(3) not null default platform_now(),
  -- The replica that asks the provider holds the lease until this time, by this token.
  lease_until timestamptz(3),
  lease_token uuid,
  -- The provider did not respond: it is asked again after this time.
  retry_at timestamptz(3),
  check (num_nonnulls(key_id, bootstrap_hash) = case method when 'api_key' then 1 else 0 end),
  check (method = 'api_key' or user_id is not null)
);
create index sessions_principal on sessions (principal_id, id);
create index sessions_user on sessions (user_id) where user_id is not null;
create index sessions_key on sessions (key_id) where key_id is not null;
create index sessions_provider_sid on sessions (provider_sid) where provider_sid is not null;

-- What may be used once, as SHA-256, for as long as it could be used: the `state` of a sign-in, the `jti` of a logout
-- token.
create table used_once (
  value_hash text primary key,
  expires_at timestamptz(3) not null
);
create index used_once_expires on used_once (expires_at);

-- When the bootstrap key was last audited: its first use in an hour is an entry.
create table bootstrap_uses (
  singleton boolean primary key default true check (singleton),
  used_at timestamptz(3) not null
);
