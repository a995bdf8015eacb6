import type { settings } from '../../text/en/settings.ts';

export type Group = keyof (typeof settings)['groups'];

/** The order of the groups. A setting that a newer release has is in the last one. */
export const groups: readonly Group[] = [
  'schedules',
  'triggers',
  'workItems',
  'requests',
  'telemetry',
  'people',
  'audit',
  'other',
];

const patterns: readonly (readonly [RegExp, Group])[] = [
  [/SCHEDULE|OCCURRENCE/, 'schedules'],
  [/TRIGGER|EVENT|WEBHOOK/, 'triggers'],
  [/WORK_ITEM|CONVERSATION/, 'workItems'],
  [/RATE_LIMIT/, 'requests'],
  [/TELEMETRY|CAPTURE/, 'telemetry'],
  [/AUDIT/, 'audit'],
  [/SESSION|KEY|ROLE/, 'people'],
];

export const groupOf = (name: string): Group =>
  patterns.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
