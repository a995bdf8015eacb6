import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const audit = catalog({
  lead: 'Who changed what, and who was refused. Each entry is in a hash chain, so that a change of the past is found.',
  what: 'entries',
  empty: 'Nothing was changed yet.',
  at: 'At',
  who: 'Who',
  action: 'Action',
  target: 'Target',
  outcome: 'Outcome',
  outcomes: { done: 'Done', refused: 'Refused' },
  details: 'Details',
  via: { key: 'with a key', session: 'in the application', channel: 'in a channel', system: 'by itself' },
  from: (ip: string) => `from ${ip}`,
  verify: 'Verify',
  verifying: (count: number) => `Verifying: ${number(count)} entries so far …`,
  whole: (count: number, hash: string) =>
    `${plural(count, { one: '# entry, chain whole', other: '# entries, chain whole' })}, last hash ${hash}`,
  broken: (position: number) => `The entry at position ${number(position)} is missing or was changed.`,
  brokenSomewhere: 'A checkpoint does not match the chain.',
  exportAll: 'Export',
  show: 'Details',
  showWithReason: 'Details and reason',
  position: (position: number | null) =>
    position === null ? 'Not chained yet.' : `Position ${number(position)} of the chain.`,
});
