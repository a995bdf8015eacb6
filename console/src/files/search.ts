import { text } from '../routing/search.ts';

/**
 * What the tab of files reads from the address: the data frame that is open, the row it begins with, and the column it is
 * ordered by (`-name` is descending). `next` is the cursor of the list of files.
 */
export const filesReaders = { frame: text, from: text, order: text, next: text };
