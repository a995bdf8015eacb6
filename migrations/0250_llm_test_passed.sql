-- When the test of an LLM configuration last passed, with its present settings: Set-up counts such a one as a real model.
alter table llm_configurations add column test_passed_at timestamp(3) with time zone;
-- Those that are there may be in use for months. No one is asked to test them again.
update llm_configurations set test_passed_at = updated_at where kind <> 'mock';
