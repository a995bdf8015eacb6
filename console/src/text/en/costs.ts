import { catalog } from '../catalog.ts';
import { number, plural } from '../index.ts';

export const costs = catalog({
  lead: 'What calls of models cost: of runs, tests of agents, judges, questions and extractions.',
  cost: 'Cost',
  groupBy: 'Group by',
  groupings: {
    day: 'Day',
    agent: 'Agent',
    model: 'Model',
    llm_configuration: 'LLM configuration',
    schedule: 'Schedule',
    trigger: 'Trigger',
    purpose: 'Purpose',
    person: 'Person',
    api_key: 'API key',
  },
  purposes: {
    run: 'Runs',
    trial: 'Trials',
    judge: 'Judges',
    question: 'Questions',
    extraction: 'Extractions',
    test: 'Tests of LLM configurations',
    external: 'External workers',
  },
  time: 'Time',
  days: (days: number) => `${days} days`,
  overTime: 'Cost over time',
  perDay: (days: number) => `Cost of each of ${days} days`,
  day: 'Day',
  calls: 'Calls',
  tokens: 'Tokens',
  share: 'Share',
  download: 'Download CSV',
  unpriced: (calls: number) =>
    plural(calls, { one: '1 call has no price', other: `${number(calls)} calls have no price` }),
  unpricedText: 'The sums leave them out.',
  unreconciled: (calls: number) =>
    plural(calls, {
      one: 'The usage of 1 call contradicts itself',
      other: `The usage of ${number(calls)} calls contradicts itself`,
    }),
  none: {
    day: 'No day',
    agent: 'Without an agent',
    model: 'No model',
    llm_configuration: 'Without a configuration',
    schedule: 'Without a schedule',
    trigger: 'Without a trigger',
    purpose: 'No purpose',
    person: 'Not a person',
    api_key: 'Not a key',
  },
  deleted: (id: string) => `deleted ${id.slice(0, 8)}`,
  nothing: 'No model was called in this time.',
  truncated: (groups: number) => `These are the ${number(groups)} dearest. The CSV has no more.`,
});
