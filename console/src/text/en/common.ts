import { catalog } from '../catalog.ts';
import { number } from '../format.ts';

/** Words that several features use. The names of buttons are the same everywhere. */
export const common = catalog({
  product: 'Agent Platform',
  save: 'Save',
  discard: 'Discard',
  delete: 'Delete',
  test: 'Test',
  close: 'Close',
  dismiss: 'Dismiss',
  done: 'Done',
  tryAgain: 'Try again',
  copy: 'Copy',
  copyValue: 'Copy value',
  copyLink: 'Copy link',
  copied: 'Copied',
  clear: 'Clear',
  clearFilters: 'Clear filters',
  yes: 'yes',
  no: 'no',
  on: 'on',
  off: 'off',
  loading: 'Loading',
  download: 'Download',
  edit: 'Edit',
  exampleAgent: 'Reporter',
  name: 'Name',
  reason: 'Reason',
  more: (count: number) => `and ${number(count)} more`,
});

/** The name of a copy, which is stored. */
export const copyName = (name: string): string => `${name} (copy)`;
