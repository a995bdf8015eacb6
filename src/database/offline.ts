import type { Database } from './database.ts';

const refuse = (): never => {
  throw new Error('there is no database here');
};

/** No database, for features that are created but not started. It accepts listeners and observers and runs nothing. */
export const offlineDatabase: Database = {
  kind: 'embedded',
  tx: async () => refuse(),
  run: async () => refuse(),
  listen: () => {},
  onStatement: () => {},
  ping: async () => refuse(),
  close: async () => {},
};
