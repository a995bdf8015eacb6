import { catalog } from '../catalog.ts';
import { duration, number, plural } from '../format.ts';

export const review = catalog({
  lead: (count: number, more: boolean, oldest: number) =>
    `${more ? 'More than ' : ''}${plural(count, { one: '# Work Item waits', other: '# Work Items wait' })} for a person, the oldest for ${duration(oldest)}.`,
  leadNone: 'Nothing waits for a person.',
  empty: 'When an agent has a question, or a tool needs approval, the Work Item waits here.',
  all: 'All Work Items',
  several: 'Act on several',
  agent: 'Agent',
  order: 'Order',
  orders: { waiting: 'longest wait first', created: 'newest first' },
  waiting: 'Waiting',
  what: 'Work Items',
  decision: 'Decision',
  open: 'Open Work Item',
  meta: '{name}\u00a0· agent {agent}{needs}',
  needs: (tools: readonly string[]) => `\u00a0· needs approval of ${tools.join(', ')}`,
  unknown: '\u00a0· its outcome is unknown',
  message: 'Message to the agent',
  messageOptional: 'Message to the agent (optional)',
  seesIt: 'It will see this with your decision.',
  answers: 'Your reply to its question.',
  noLonger: (status: string) => `It no longer waits: it is ${status}.`,
  earlier: (count: number) => `${number(count)} earlier`,
  back: 'All that wait',
  undecided: (count: number) =>
    `Decide about ${plural(count, { one: 'the call', other: 'each of the # calls' })} above first.`,
});
