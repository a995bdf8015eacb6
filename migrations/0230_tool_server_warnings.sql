-- What the last successful discovery left out, as sentences for people: a JSON list of texts.
alter table tool_servers add column warnings jsonb not null default '[]';
