-- What a list shows of an extraction, sealed: its record may hold the text of a whole document.
alter table extractions add column summary text;
create index extractions_created_by on extractions (created_by, id desc);
