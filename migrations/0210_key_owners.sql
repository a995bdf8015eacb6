-- A key belongs to a person or to the workspace. A person's keys, personal ones and service accounts' alike, follow the
-- access of that person and go with them.
alter table api_keys
  add column owner text check (owner in ('person', 'workspace')),
  add column owner_user_id uuid references users (id) on delete cascade,
  -- The person who made it, in a session or with a key of theirs; null: a key of the workspace made it. Kept when the
  -- person is gone.
  add column made_by_user_id uuid,
  -- The key with which it was made. Without a foreign key: it is read only while that key is there.
  add column made_with_key_id uuid,
  -- Of a key of the workspace: the service account whose limits it shares, because that one made it; null: its own.
  add column root_id uuid,
  -- The end that the first key had: no rotation passes it. Null: it had none.
  add column first_end timestamptz(3);

-- Present keys: those that people made, and those that keys of these people made, become theirs.
with recursive owned (id, account, user_id) as (
  select k.id, coalesce(k.account_id, k.id), u.id from api_keys k join users u on u.id::text = k.created_by
  union
  select k.id, coalesce(k.account_id, k.id), o.user_id from api_keys k join owned o on k.created_by = o.account::text
)
update api_keys k set owner = 'person', owner_user_id = o.user_id, made_by_user_id = o.user_id from owned o where k.id = o.id;

update api_keys set owner = 'person', owner_user_id = user_id where user_id is not null;
update api_keys set owner = 'workspace' where owner is null;
update api_keys k set first_end = k.expires_at, made_with_key_id = (
  select m.id from api_keys m where coalesce(m.account_id, m.id)::text = k.created_by and m.created_at <= k.created_at
  order by m.created_at desc, m.id desc limit 1);

with recursive rooted (id, account, root) as (
  select k.id, coalesce(k.account_id, k.id), coalesce(k.account_id, k.id) from api_keys k
  where k.owner = 'workspace' and k.made_with_key_id is null
  union all
  select k.id, coalesce(k.account_id, k.id),
    case when m.role = 'admin' and m.scopes is null then coalesce(k.account_id, k.id) else r.root end
  from rooted r join api_keys m on m.id = r.id join api_keys k on k.made_with_key_id = r.id and k.owner = 'workspace'
)
update api_keys k set root_id = r.root from rooted r where k.id = r.id and r.root <> r.account;

-- The release before writes keys without an owner while it runs beside this one. It writes the maker, and of a rotation
-- the account.
create function api_keys_owner() returns trigger language plpgsql as $$
declare
  maker api_keys%rowtype;
begin
  if new.owner is not null then
    return new;
  end if;
  new.first_end := new.expires_at;
  select k.* into maker from api_keys k where coalesce(k.account_id, k.id) = new.account_id order by k.created_at limit 1;
  if found then
    new.owner := maker.owner;
    new.owner_user_id := maker.owner_user_id;
    new.made_by_user_id := maker.made_by_user_id;
    new.made_with_key_id := maker.made_with_key_id;
    new.root_id := maker.root_id;
    return new;
  end if;
  select u.id into new.owner_user_id from users u where u.id = new.user_id or u.id::text = new.created_by limit 1;
  select k.* into maker from api_keys k where coalesce(k.account_id, k.id)::text = new.created_by
    order by k.created_at desc limit 1;
  if found then
    new.owner_user_id := maker.owner_user_id;
    new.made_with_key_id := maker.id;
    if maker.owner = 'workspace' and (maker.role <> 'admin' or maker.scopes is not null) then
      new.root_id := coalesce(maker.root_id, maker.account_id, maker.id);
    end if;
  end if;
  new.made_by_user_id := new.owner_user_id;
  new.owner := case when new.owner_user_id is null then 'workspace' else 'person' end;
  return new;
end $$;
create trigger api_keys_owner before insert on api_keys for each row execute function api_keys_owner();

alter table api_keys
  alter column owner set not null,
  add check ((owner = 'person') = (owner_user_id is not null));
create index api_keys_owner_user on api_keys (owner_user_id) where owner_user_id is not null;
create index api_keys_made_by_user on api_keys (made_by_user_id) where made_by_user_id is not null;
create index api_keys_made_with_key on api_keys (made_with_key_id) where made_with_key_id is not null;
create index api_keys_account on api_keys ((coalesce(account_id, id)));
