-- Policies for tools of servers that have been deleted. The deletion of a server now removes them.
update agents set revision = revision + 1, updated_at = platform_now(),
  tool_policies = (select coalesce(jsonb_agg(policy order by position), '[]')
    from jsonb_array_elements(tool_policies) with ordinality as p(policy, position)
    where exists (select from tool_servers where id::text = lower(policy->>'tool_server_id')))
where exists (select from jsonb_array_elements(tool_policies) as p(policy)
  where not exists (select from tool_servers where id::text = lower(policy->>'tool_server_id')));
