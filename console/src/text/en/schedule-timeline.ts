import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const scheduleTimeline = catalog({
  title: 'Timeline',
  label: 'Occurrences over time',
  note: '{zone}, {from} to {to}',
  schedule: 'One schedule',
  zoom: 'How much time',
  spans: { '1h': '1 h', '6h': '6 h', '1d': '1 day', '3d': '3 days', '7d': '7 days', '14d': '14 days' },
  earlier: 'Earlier',
  later: 'Later',
  now: 'Now',
  followsNow: 'Now is in the middle already.',
  timelineLead: 'What became of each occurrence, and what is to come.',
  quiet: 'Nothing is recorded or expected in this time.',
  changes: 'Changes in this time',
  moreChanges: (count: number) => `and ${number(count)} more`,

  // Calendar
  calendarLead: 'How many occurrences fall into each hour, over all schedules.',
  calendar: 'Calendar',
  week: (from: string, to: string) => `${from} to ${to}`,
  weekBefore: 'Week before',
  thisWeek: 'This week',
  weekAfter: 'Week after',
  thisWeekShown: 'This week is shown already.',
  hour: 'Hour',
  cell: (day: string, hour: string, total: number, bad: number) =>
    `${day} ${hour}: ${plural(total, { one: '# occurrence', other: '# occurrences' })}${bad === 0 ? '' : `, ${number(bad)} skipped or missing`}`,
  noHour: (day: string, hour: string) => `${day} ${hour} does not exist: the clock goes forward.`,
  twice: 'twice',
  busiest: (total: number) =>
    `Busiest: ${plural(total, { one: '# occurrence', other: '# occurrences' })} in the hour from {at}.`,
  collision: (count: number) => `${number(count)} at {at}, within one minute.`,
  quietest: (hours: number) =>
    `Longest quiet time: ${plural(hours, { one: '# hour', other: '# hours' })} from {at}.`,
  noQuiet: 'No hour of the week is without one.',
  noLoad: 'Nothing is recorded or expected in this week.',
  firstAgents: (count: number) => `Of the first ${number(count)} agents by name.`,
});
