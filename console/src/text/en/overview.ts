import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const overview = catalog({
  nothingYet: 'Nothing runs here yet. In a minute you can see an agent do its first piece of work.',
  calm: 'Nothing needs attention.',
  needs: (count: number) =>
    plural(count, { one: 'One thing needs attention.', other: '# things need attention.' }),
  onTime: (onTime: number, all: number) =>
    all === 0
      ? 'No occurrence was due in the last 24 hours.'
      : onTime === all
        ? plural(all, {
            one: 'The # occurrence of the last 24 hours was on time.',
            other: 'All # occurrences of the last 24 hours were on time.',
          })
        : `${number(onTime)} of ${number(all)} occurrences of the last 24 hours were on time.`,
  run: 'Run an agent',
  newSchedule: 'New schedule',
  attention: 'Needs attention',
  all: 'Show all',
  allWell: 'All schedules fire, all Work Items go on, all traces arrive.',
  open: 'Open',
  openOf: (title: string) => `Open: ${title}`,
  why: 'Why?',
  review: 'Review',
  health: 'Health',
  items: 'Open items',

  timeline: 'Timeline',
  timelineNote: (zone: string) => `${zone}, 12 hours back and ahead`,
  noSchedules: 'No schedules and no triggers yet.',
  eventsOf: (agent: string) => `${agent}: events`,
  fired: 'started a Work Item',
  other: 'started none',
  lost: 'invalid or lost',
  bandLabel: 'Occurrences of 12 hours back and ahead',

  numbers: 'Now and the last 24 hours',
  executing: 'Executing',
  pending: 'Pending',
  oldest: 'oldest {at}',
  finished: 'Finished',
  failed: 'Failed',
  events: 'Events',
  invalid: (count: number) => `${number(count)} invalid`,
  slots: (count: number) => `of ${plural(count, { one: '# slot', other: '# slots' })}`,
  tokens: 'Tokens',
  costs: 'Costs',
  today: 'Today',
  yesterday: (amount: string) => `${amount} yesterday at this time`,
  month: 'This month',
  spans: 'Spans delivered',
  queued: (count: number) => `${number(count)} queued`,
  perHour: (name: string) => `${name} in each of the last 24 hours`,

  setUp: 'Set-up',
  setUpCount: (done: number, all: number) => `${number(done)} of ${number(all)}`,
  stepAgent: 'An agent',
  stepAgentNote: 'what it is for, in your words',
  stepRun: 'A first Work Item',
  stepRunNote: 'run by hand, or by a schedule',
  stepSchedule: 'A schedule',
  stepScheduleNote: 'when it runs by itself',
  stepBackend: 'A tracing backend',
  stepBackendNote: 'each trace goes where you already look',
  stepModel: 'A real model',
  stepModelNote: 'the built-in one only pretends; done when the test of another has passed',
  stepKey: 'A key for your team',
  stepKeyNote: 'this first one can do everything',
  done: 'done',

  tryTitle: 'Try it: an example agent',
  tryText:
    'One click makes the agent Example on the built-in model (no key, no cost), a schedule every 5 minutes, and runs it now. You will be taken to its first Work Item.',
  tryIt: 'Try it: example agent',
  newAgent: 'New agent',
  boxSchedule: 'Schedule',
  boxScheduleNote: 'every 5 minutes',
  boxItem: 'Work Item',
  boxItemNote: 'carried out once',
  boxTrace: 'Trace',
  boxTraceNote: 'to your backend',
  terminal: 'Or from your terminal',
  example: {
    name: 'Example',
    description: 'Made by "Try it". Delete it when you are done.',
    instructions: 'You are an example. Say what time it is and what you were asked.',
    workItem: 'Example report',
    message: 'Say hello to the night shift.',
  },
});
