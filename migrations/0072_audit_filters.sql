-- Lists filtered by action or outcome alone read one index instead of the whole log.
create index audits_action on audits (action, id);
create index audits_outcome on audits (outcome, id);
