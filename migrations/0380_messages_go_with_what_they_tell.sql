-- Messages and steps go with the review or alert that they tell of, whatever deletes it.
create function delete_messages() returns trigger language plpgsql as $$
begin
  delete from channel_messages where subject_id in (select id from gone);
  delete from route_steps where subject_id in (select id from gone);
  return null;
end $$;
create trigger reviews_messages after delete on reviews
  referencing old table as gone for each statement execute function delete_messages();
create trigger alerts_messages after delete on alerts
  referencing old table as gone for each statement execute function delete_messages();
