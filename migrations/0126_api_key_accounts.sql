-- A service account outlives the rotation of its key: what it did belongs to it under the id of its first key. Null: the
-- key was not made by a rotation.
alter table api_keys add column account_id uuid;

with recursive rotated as (
  select k.id as account_id, k.replaced_by as id from api_keys k
  where k.kind = 'service_account' and k.replaced_by is not null
    and not exists (select from api_keys earlier where earlier.replaced_by = k.id)
  union all
  select r.account_id, k.replaced_by from rotated r join api_keys k on k.id = r.id where k.replaced_by is not null
)
update api_keys k set account_id = r.account_id from rotated r where k.id = r.id;
