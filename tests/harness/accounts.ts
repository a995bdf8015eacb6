import type { Accounts } from '../../src/charges/index.ts';

/** Accounts that charge nothing, for parts that are tested alone. */
export const noAccounts: Accounts = {
  open: () => ({
    outputLimit: async () => null,
    begin: async () => ({ end: async () => {}, void: () => {} }),
  }),
  substitute: async () => null,
  writeLate: async () => {},
};
