import { catalog } from '../catalog.ts';

export const outcomes = catalog({
  'on-time': 'On time',
  late: 'Late',
  'caught-up': 'Caught up',
  skipped: 'Skipped',
  missing: 'Missing',
  due: 'Due',
  manual: 'Run by hand',
  waits: 'Waits for a person',
});
