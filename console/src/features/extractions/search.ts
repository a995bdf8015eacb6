import { searchSchema, text } from '../../routing/search.ts';

export const extractionsSearch = searchSchema({ next: text });

/** The file that is read: of a conversation, or of a Work Item. Without one, a document is uploaded. */
export const newExtractionSearch = searchSchema({
  agent_id: text,
  conversation_id: text,
  work_item_id: text,
  file_id: text,
});

/** `field` is the JSON Pointer of the chosen value, `at` the number of its place in the document. */
export const extractionSearch = searchSchema({ field: text, at: text, page: text });
