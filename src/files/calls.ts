import { dropBytes, lockNames } from './files.ts';
import { findFile, findFileByName, insertFile, listFiles } from './store.ts';

/** The calls that other features make, in their own transactions. */
export const fileCalls = {
  find: findFile,
  findByName: findFileByName,
  list: listFiles,
  insert: insertFile,
  lockNames,
  dropBytes,
};
