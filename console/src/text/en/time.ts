import { catalog } from '../catalog.ts';
import { duration, plural } from '../format.ts';

export const times = catalog({
  now: 'now',
  ago: (span: string) => `${span} ago`,
  in: (span: string) => `in ${span}`,
  days: (count: number) => plural(count, { one: '# day', other: '# days' }),
  updated: (milliseconds: number) => `updated ${duration(milliseconds)} ago`,
});
