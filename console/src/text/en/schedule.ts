import { catalog } from '../catalog.ts';
import { number, percent, plural } from '../format.ts';

export const schedule = catalog({
  // The header. Places in braces are times.
  next: 'Next run {relative}: {exact}.',
  overdue: 'Due {since}, and it has not fired.',
  blocked: 'It cannot fire.',
  paused: 'Paused.',
  pausedBy: (name: string) => `Paused by ${name} {at}`,
  pausedAt: 'Paused {at}',
  because: (reason: string) => `: “${reason}”${/[.!?…]$/.test(reason) ? '' : '.'}`,
  pausedMore: 'Nothing runs until it is resumed.',
  noNext: 'There is no next run.',
  punctual: (share: number, since: string) => `On time ${percent(share)} of ${since}.`,
  lastDays: (days: number) => `the last ${plural(days, { one: 'day', other: '# days' })}`,
  notYet: 'It has not been due yet.',
  notYetByHand: 'It has not been due yet; it was run by hand.',
  notLately: (span: string) => `It was not due in ${span}.`,
  stateBlocked: 'BLOCKED',
  stateOverdue: 'OVERDUE',
  statePaused: 'PAUSED',

  // Actions
  runNow: 'Run now',
  runAt: 'Run once at …',
  runAtTitle: 'Run once at a time',
  runAtMore:
    'A Work Item with the definition of now waits until then. The times of the schedule stay as they are.',
  runAtWhen: 'When',
  runAtHint: 'On the clock of this device, at most a year ahead.',
  runAtNeeded: 'Choose a time.',
  planned: 'A Work Item waits for its time',
  started: 'A Work Item was made',
  openWorkItem: 'Open the Work Item',
  pause: 'Pause',
  pauseTitle: 'Pause schedule',
  pauseMore: 'Nothing runs until someone resumes it. What is due and has not fired is recorded as skipped.',
  reasonHint: 'Shown to everyone who asks why it does not run.',
  pausedDone: (name: string) => `${name} is paused`,
  resume: 'Resume',
  resumedDone: (name: string) => `${name} is resumed`,
  duplicate: 'Duplicate',
  deleteTitle: 'Delete schedule',
  deleteMore: (name: string) =>
    `${name} never runs again, and why it did or did not run is no longer known. Its Work Items remain.`,
  deletedDone: (name: string) => `${name} is deleted`,

  // Tabs
  tabs: 'Views of the schedule',
  occurrences: 'Occurrences',
  upcoming: 'Upcoming',
  history: 'History',
  definition: 'Definition',

  // The ledger
  ledger: 'What became of each occurrence',
  due: (zone: string) => `Due (${zone})`,
  outcome: 'Outcome',
  lateBy: 'Late by',
  whatHappened: 'What happened',
  workItem: 'Work Item',
  noWorkItem: 'none',
  workItemGone: 'deleted',
  stillRunning: 'still running then',
  several: (count: number) => `${number(count)} occurrences, this is the first.`,
  range: 'Range',
  ranges: { '1': 'last 24 hours', '7': 'last 7 days', '30': 'last 30 days' },
  between: (from: string, to: string) => `${from} to ${to}`,
  since: (from: string) => `since ${from}`,
  until: (to: string) => `until ${to}`,
  what: 'occurrences',
  neverDue: 'Nothing has been due yet, so there is nothing to explain.',
  seeUpcoming: 'See when it is due',
  change: '{at}: {what}',

  // The explanation of an occurrence
  why: 'Why?',
  when: 'When',
  whenIn: (zone: string) => `The time in ${zone}.`,
  whyHint: 'Pick any time, and read why it ran then, or did not.',
  before: (at: string) => `The time before: ${at}`,
  after: (at: string) => `The time after: ${at}`,
  back: (at: string) => `← ${at}`,
  forward: (at: string) => `${at} →`,

  // Definition
  expression: 'Expression',
  inWords: 'In words',
  zone: 'Zone',
  catchUp: 'Catch up',
  catchUpOn: 'Once after an outage',
  catchUpOff: 'No: what is missed is skipped',
  overlap: 'If still running',
  agent: 'Agent',
  message: 'Message',
  noMessage: 'none',
  payload: 'Payload',
  entries: (count: number) => plural(count, { one: '# entry', other: '# entries' }),
  changed: 'Changed',
  raw: 'As the API returns it',
  curl: 'Get it with curl',

  // Upcoming
  upcomingPaused: 'It is paused. It would run at these times.',
  upcomingNone: 'It has no next time. Edit it, and the next times are shown here.',

  // History
  versions: 'Changes of the schedule',
  changedWhen: (zone: string) => `Since (${zone})`,
  whatChanged: 'What changed',
  times: 'Times from then on',
  off: 'paused',
});
