import { catalog } from '../catalog.ts';
import { list, number, plural } from '../format.ts';

const items = { one: '# Work Item', other: '# Work Items' };

export const workItemList = catalog({
  what: 'Work Items',
  lead: (total: number, more: boolean, parts: readonly string[]) =>
    `${more ? 'More than ' : ''}${plural(total, items)}${parts.length > 0 ? `; ${list(parts)}` : ''}.`,
  parts: {
    EXECUTING: (count: number) => plural(count, { one: '# is executing', other: '# are executing' }),
    waits: (count: number) => plural(count, { one: '# waits for a person', other: '# wait for a person' }),
    PENDING: (count: number) => plural(count, { one: '# is pending', other: '# are pending' }),
    ERROR: (count: number) => plural(count, { one: '# failed', other: '# failed' }),
  },
  empty: 'A Work Item is one piece of work for an agent. Schedules create them, and so can you.',
  exampleMessage: 'Say hello.',

  // Filters.
  byStatus: 'Status',
  all: 'All',
  count: (count: number, cap: number) => (count >= cap ? `${number(cap)}+` : number(count)),
  filterText: 'Filter by name or id',
  agent: 'Agent',
  schedule: 'Schedule',
  source: 'Source',
  sources: { schedule: 'Schedule', trigger: 'Trigger', api: 'API', person: 'Person' },
  errorCode: 'Error',
  created: 'Created',
  finished: 'Finished',
  allTime: 'All time',
  ranges: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days' },
  between: 'Between two times',
  from: 'From',
  to: 'To',
  apply: 'Apply',
  since: (from: string) => `since ${from}`,
  until: (to: string) => `until ${to}`,
  fromTo: (from: string, to: string) => `${from} to ${to}`,
  order: 'Order',
  orders: {
    created: 'newest first',
    finished: 'last finished first',
    duration: 'longest first',
    waiting: 'longest wait first',
    cost: 'dearest first',
  },
  liveOn: 'Live: new Work Items appear by themselves',
  liveOff: 'New Work Items are counted until you show them',

  // Columns.
  columns: {
    name: 'Work Item',
    status: 'Status',
    source: 'Source',
    when: 'When',
    duration: 'Duration',
    tokens: 'Tokens',
  },
  due: 'due {at}',
  byHandFrom: (who: string) => `run by ${who}`,
  cancelAsked: 'cancel asked {at}',
  retry: 'tries again {at}',
  budget: 'waits for the next period of its budget, {at}',
  start: 'starts {at}',
  attempts: (count: number) => plural(count, { one: '# attempt', other: '# attempts' }),
  tokensTitle: (input: number, output: number) => `${number(input)} in, ${number(output)} out`,
  noAgent: 'deleted agent',

  // Actions on many.
  bulk: {
    submit: (count: number) => `Submit ${plural(count, items)}`,
    continue: (count: number) => `Continue ${plural(count, items)}`,
    restart: (count: number) => `Restart ${plural(count, items)}`,
    cancel: (count: number) => `Cancel ${plural(count, items)}`,
    complete: (count: number) => `Complete ${plural(count, items)}`,
  },
  counting: 'Counting what would change. Nothing is changed yet.',
  wouldChange: (change: number, matched: number) =>
    change === matched
      ? plural(matched, {
          one: 'The selected Work Item would change.',
          other: 'All # selected Work Items would change.',
        })
      : `${number(change)} of ${plural(matched, { one: '# selected Work Item', other: '# selected Work Items' })} would change.`,
  nothingWouldChange: 'None of the selected Work Items allows this.',
  refused: (count: number, status: string) =>
    `${plural(count, { one: '# Work Item stays as it is', other: '# Work Items stay as they are' })}: ${status}.`,
  gone: (count: number) => `${plural(count, items)} ${count === 1 ? 'does' : 'do'} not exist any more.`,
  countChanged: 'The number has changed in the meantime. It was counted again; nothing was changed.',
  progress: (done: number, matched: number) => `${number(done)} of ${number(matched)} done`,
  bulkDone: (changed: number) => `${plural(changed, items)} changed`,
  bulkFailed: (failed: number) => `${plural(failed, items)} could not be changed because of an error.`,
  stop: 'Stop',
  stopped: 'Stopped. What was done stays done.',
});
