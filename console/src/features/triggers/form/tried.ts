import type { Body } from '../../../api/index.ts';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { type TriggerValues, triggerForm } from './form.tsx';
import { hasHeaders, readHeaders, type Sample } from './samples.ts';

/** Stands for the id of what is not chosen yet: nothing looks it up. */
const anyId = '00000000-0000-0000-0000-000000000000';

/** The definition of a form that is not complete: what decides about no event is filled in. */
const definitionOf = (values: TriggerValues) =>
  triggerForm.edit.toBody({
    ...values,
    name: 'try',
    hmac_header: values.hmac_header.trim() || 'X-Signature',
    connection_id: values.connection_id ?? anyId,
    stream: values.stream || 'stream',
    topic: values.topic || 'topic',
    statuses: values.statuses.length > 0 ? values.statuses : ['COMPLETED'],
    watched_trigger: values.watched_trigger ?? anyId,
    watched_agent: values.kind === 'absence' ? (values.watched_agent ?? anyId) : values.watched_agent,
    absence_window: 3_600,
    dedup_window: null,
    per_minute: null,
  });

export type Tried = Body<'tryTrigger'>;

/** The request that tries the values of a form on these kept deliveries. */
export const tryKept = (values: TriggerValues, trigger: PublicTrigger, eventIds: string[]): Tried => ({
  trigger: definitionOf(values),
  trigger_id: trigger.id,
  event_ids: eventIds,
});

/** The request that tries them on a sample, or which part of the sample cannot be read. */
export const trySample = (
  values: TriggerValues,
  trigger: PublicTrigger | undefined,
  sample: Sample,
): Tried | { wrong: 'headers' | 'body' } => {
  const headers = hasHeaders(values) ? readHeaders(sample.headers) : {};
  if (headers === null) return { wrong: 'headers' };
  try {
    const body: unknown = JSON.parse(sample.body);
    return {
      trigger: definitionOf(values),
      ...(trigger && { trigger_id: trigger.id }),
      sample: { headers, body },
    };
  } catch {
    return { wrong: 'body' };
  }
};
