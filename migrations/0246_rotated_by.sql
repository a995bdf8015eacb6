-- Who rotates a key gets its new value: the key then ends with that person or key, too. Null: its own person, or the key
-- itself. Without foreign keys, as the maker.
alter table api_keys
  add column rotated_by_user_id uuid,
  add column rotated_with_key_id uuid;
create index api_keys_rotated_by_user on api_keys (rotated_by_user_id) where rotated_by_user_id is not null;
create index api_keys_rotated_with_key on api_keys (rotated_with_key_id) where rotated_with_key_id is not null;
