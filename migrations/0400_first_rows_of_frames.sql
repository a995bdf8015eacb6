-- The first rows of a data frame, as JSON: its first pages need no process then. Null for frames of earlier releases, and
-- for copies. Text, because jsonb would write numbers in another way.
alter table data_frames add column head text;
