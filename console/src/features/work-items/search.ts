import { filesReaders } from '../../files/search.ts';
import { flag, moment, oneOf, searchSchema, text, texts } from '../../routing/search.ts';
import { traceReaders } from '../../traces/search.ts';
import { type Status, statuses } from './types.ts';

export const workItemsSearch = searchSchema({
  status: (raw) => {
    const known = texts(raw)?.filter((status) => statuses.some((each) => each === status));
    return known && known.length > 0 ? (known as Status[]) : undefined;
  },
  agent_id: texts,
  schedule_id: text,
  source: oneOf(['schedule', 'trigger', 'api', 'person']),
  error_code: text,
  created_from: moment,
  created_to: moment,
  finished_from: moment,
  finished_to: moment,
  q: text,
  sort: oneOf(['created', 'finished', 'duration', 'waiting', 'cost']),
  live: flag,
  next: text,
});

export const newWorkItemSearch = searchSchema({ agent: text, copy: text });

export const workItemSearch = searchSchema({
  tab: oneOf(['conversation', 'timeline', 'files', 'events', 'payload', 'traces']),
  conversation: text,
  attempt: text,
  ...traceReaders,
  ...filesReaders,
});
