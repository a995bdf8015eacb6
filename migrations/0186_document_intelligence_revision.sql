-- The ETag of the configuration. It comes from a sequence, so that one made after a deletion has a revision of its own,
-- and no one writes over it with the ETag of the one before. 0 is that of no configuration.
create sequence document_intelligence_revisions as integer;
alter table document_intelligence
  add column revision integer not null default nextval('document_intelligence_revisions');
