-- A model that reads documents is not deleted: extractions would go to the default model, in silence.
alter table document_intelligence drop constraint document_intelligence_llm_id_fkey;
alter table document_intelligence add constraint document_intelligence_llm_id_fkey
  foreign key (llm_id) references llm_configurations (id);
