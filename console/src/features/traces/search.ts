import { oneOf, searchSchema, text } from '../../routing/search.ts';
import { traceReaders } from '../../traces/search.ts';

export const tracesSearch = searchSchema({
  agent_id: text,
  status: oneOf(['ok', 'error']),
  tool: text,
  error_type: text,
  model: text,
  service: text,
  min_duration_ms: text,
  min_cost_nano_usd: text,
  work_item_id: text,
  conversation_id: text,
  sort: oneOf(['time', 'duration', 'cost']),
  next: text,
});

export const traceSearch = searchSchema(traceReaders);

export const compareSearch = searchSchema({ a: text, b: text });
