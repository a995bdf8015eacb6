import type { Database } from './database.ts';

const refuse = (): never => {
  throw new Error('there is no database here');
};

/** A database that is not there: for what only needs to be made. It accepts listeners and observers and runs nothing. */
export const offlineDatabase: Database = {
  kind: 'embedded',
  tx: async () => refuse(),
  run: async () => refuse(),
  listen: () => {},
  onStatement: () => {},
  ping: async () => refuse(),
  close: async () => {},
};
