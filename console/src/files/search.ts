import { text } from '../routing/search.ts';

/**
 * Parameters of the tab of files: the data frame that is open, the row it begins with, and the column it is ordered by
 * (`-name` is descending). `next` is the cursor of the list of files.
 */
export const filesReaders = { frame: text, from: text, order: text, next: text };
