-- Whose number it was: the final counts of a deleted integration stay in the metrics under its id.
create table observability_deleted_integrations (
  number integer primary key,
  id uuid not null
);
create function observability_integration_deleted() returns trigger language plpgsql as $$
begin
  -- A database restored to before the telemetry log may have given a number again: the delete must not fail for it.
  insert into observability_deleted_integrations (number, id) values (old.number, old.id)
    on conflict (number) do update set id = excluded.id;
  return null;
end $$;
create trigger observability_integration_deleted after delete on observability_integrations
  for each row execute function observability_integration_deleted();
