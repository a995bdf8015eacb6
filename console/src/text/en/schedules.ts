import { catalog } from '../catalog.ts';
import { duration, number, plural } from '../format.ts';

export const schedules = catalog({
  view: 'View',
  views: { list: 'List', timeline: 'Timeline', calendar: 'Calendar' },
  what: 'schedules',
  newSchedule: 'New schedule',
  lead: (count: number, all: boolean) =>
    `${plural(count, { one: '# schedule', other: '# schedules' })}${all ? '' : ' or more'}.`,
  leadMatching: (count: number, all: boolean) =>
    `${plural(count, { one: '# schedule matches', other: '# schedules match' })}${all ? '' : ', or more'}.`,
  nextFires: 'The next one fires {at}.',
  empty: 'A schedule starts an agent at the times you choose, and records what became of each.',
  exampleName: 'Nightly close',
  exampleMessage: 'Close the day.',

  // Filters
  filterText: 'Filter by name or agent',
  agent: 'Agent',
  state: 'State',
  states: { enabled: 'Enabled', paused: 'Paused', blocked: 'Blocked' },
  outcome: 'Last outcome',
  zone: 'Time zone',
  order: 'Order',
  orders: { next: 'Next run', last: 'Last run', name: 'Name' },

  // Columns
  columns: { name: 'Schedule', when: 'When', next: 'Next run', last: 'Last run', recent: 'Last 20' },
  expressionAndZone: '{expression}\u00a0· {zone}',
  bothZones: '{first} {second}',
  /** Between two times: it ends a line and begins none. */
  separator: '\u00a0·',
  dueNow: 'due now',
  overdue: 'Due {since}',
  blocked: 'Blocked',
  paused: 'Paused',
  pausedAt: '{at}',
  pausedBy: (name: string) => `by ${name} {at}`,
  pausedReason: (reason: string) => `“${reason}”`,
  noNext: 'No next run',
  gap: 'The clock skips this time: it runs when the clock goes on.',
  overlap: 'The clock shows this time twice.',
  notDueYet: 'Not due yet',
  lateBy: (milliseconds: number) => `Late by ${duration(milliseconds)}`,
  timeAndOutcome: '{at}, {outcome}',
  timeAndMore: '{at} {more}',

  // Actions
  runNow: 'Run now',
  pause: 'Pause',
  resume: 'Resume',
  duplicate: 'Duplicate',
  started: (name: string) => `A Work Item of ${name} was made`,
  openWorkItem: 'Open the Work Item',
  ask: {
    pause: (count: number) =>
      count === 1 ? 'Pause schedule' : plural(count, { one: '', other: 'Pause # schedules' }),
    resume: (count: number) =>
      count === 1 ? 'Resume schedule' : plural(count, { one: '', other: 'Resume # schedules' }),
    delete: (count: number) =>
      count === 1 ? 'Delete schedule' : plural(count, { one: '', other: 'Delete # schedules' }),
  },
  more: {
    pause: 'Nothing runs until someone resumes it. What is due in the meantime is recorded as skipped.',
    resume: 'It goes on with the next occurrence. What was due in the meantime does not run.',
    delete: 'It never runs again, and why it did or did not run is no longer known. Work Items remain.',
  },
  done: {
    pause: (count: number) => plural(count, { one: '# schedule is paused', other: '# schedules are paused' }),
    resume: (count: number) =>
      plural(count, { one: '# schedule is resumed', other: '# schedules are resumed' }),
    delete: (count: number) =>
      plural(count, { one: '# schedule is deleted', other: '# schedules are deleted' }),
  },
  counting: 'Counting what would change …',
  wouldChange: (change: number, matched: number) =>
    change === matched
      ? `${plural(change, { one: '# schedule changes', other: '# schedules change' })}.`
      : `${number(change)} of ${plural(matched, { one: '# schedule changes', other: '# schedules change' })}.`,
  nothingWouldChange: 'None of them would change.',
  refused: (count: number, reason: string) => `${number(count)}: ${reason}`,
  countChanged:
    'Others match now than those that were counted. Nothing was changed. The number below is new.',
  reasonHint: 'Shown to everyone who asks why.',
});
