import { catalog } from '../catalog.ts';
import { plural } from '../format.ts';

/** Texts for pages with nothing to show, or not all. */
export const states = catalog({
  unreachable: 'The platform can not be reached. Try again in a moment.',
  timeout: 'The platform did not respond in time. Try again.',
  tooMany: 'There were too many requests in a short time. Try again in a few seconds.',
  failed: 'The request failed.',
  errorId: 'error_id',
  command: 'Command',
  refreshFailed: 'and the refresh failed',
  nothingMatches: (what: string, filters: number) =>
    `No ${what} match ${plural(filters, { one: '# filter', other: '# filters' })}.`,
  added: '+',
  removed: '−',
  noPermission: 'You may not see this page.',
  roleNeeded: (needed: string, role: string) =>
    `It requires the role ${needed}, and you act as ${role}. An administrator can change your role.`,
  notAllowed: (role: string) =>
    `You act as ${role}, and what you signed in with does not include this. An administrator can change that.`,
  actionNeedsRole: (needed: string, role: string) => `Requires the role ${needed}; you act as ${role}.`,
  actionNotAllowed: 'What you signed in with does not include this.',
  gone: 'This does not exist.',
  goneMore: 'It was deleted, or the address is not right.',
  whoDeleted: 'Who deleted it, in the audit log',
  conflict: 'Someone else changed this in the meantime',
  conflictMore: 'Both versions are below. Nothing is saved yet.',
  theirs: 'Saved by someone else',
  mine: 'Yours',
  keepTheirs: 'Keep theirs',
  writeMine: 'Write mine',
  field: 'Field',
  noDifference: 'Both versions are the same.',
});
