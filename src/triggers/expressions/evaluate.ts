import { isObject } from '../../lib/objects.ts';
import { characters, isStorable, storageFaults } from '../../lib/text.ts';
import type { TriggerEvent } from '../event.ts';
import type { Expression } from './cel.ts';
import type { CompiledFields } from './fields.ts';
import type { Template } from './template.ts';

/** The Work Item that an event makes, or why it makes none. */
export type Judgement =
  | {
      outcome: 'ready';
      message: string;
      workItemName: string | null;
      payload: Record<string, unknown>;
      /** The key of `dedup`: text, number, boolean or list; null without `dedup`. */
      key: unknown;
    }
  | { outcome: 'filtered' | 'invalid'; reason: string };

export const tooSlow: Judgement = {
  outcome: 'invalid',
  reason: 'The expressions took longer than 100 ms.',
};

export const failed = (error: unknown): Judgement => ({
  outcome: 'invalid',
  reason: `The expressions failed: ${(error as Error).message}.`,
});

const maxMessage = 10_000;
const maxName = 200;

class Invalid extends Error {}

const shown = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`);

const valueFor = (expression: Expression, event: TriggerEvent, of: string): unknown => {
  const result = expression.evaluate(event);
  if ('value' in result) return result.value;
  throw new Invalid(
    'missing' in result
      ? `The ${of} failed: there is no field “${shown(result.missing)}”.`
      : `The ${of} failed: ${shown(result.error)}.`,
  );
};

/** Returns why the filter leaves the event out; null if it lets it through. */
const filteredBy = (filter: Expression, event: TriggerEvent): string | null => {
  const result = filter.evaluate(event);
  if ('missing' in result) return `The filter was false: no field “${shown(result.missing)}”.`;
  if ('error' in result) throw new Invalid(`The filter failed: ${shown(result.error)}.`);
  if (typeof result.value !== 'boolean') throw new Invalid('The filter gave no boolean.');
  return result.value ? null : 'The filter was false.';
};

const render = (template: Template, event: TriggerEvent, of: string): string => {
  const rendered = template
    .map((part) => {
      if (typeof part === 'string') return part;
      const value = valueFor(part, event, of);
      return typeof value === 'string' ? value : JSON.stringify(value);
    })
    .join('');
  if (!isStorable(rendered)) throw new Invalid(`The ${of} has a character that cannot be stored.`);
  return rendered;
};

const defaultPayload = ({
  id,
  type,
  source,
  subject,
  time,
  body,
}: TriggerEvent): Record<string, unknown> => ({
  id,
  type,
  source,
  subject,
  time,
  data: body,
});

const payloadOf = (
  expression: Expression | null,
  event: TriggerEvent,
  maxBytes: number,
): Record<string, unknown> => {
  const payload = expression === null ? defaultPayload(event) : valueFor(expression, event, 'payload');
  if (!isObject(payload)) throw new Invalid('The payload must be an object.');
  const [fault] = storageFaults(payload);
  if (fault) throw new Invalid(`The payload cannot be stored: ${fault.path} ${fault.message}.`);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > maxBytes) throw new Invalid(`The payload has ${bytes} bytes; at most ${maxBytes} are allowed.`);
  return payload;
};

const keyOf = (expression: Expression, event: TriggerEvent): unknown => {
  const key = valueFor(expression, event, 'deduplication key');
  const isKey =
    typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' || Array.isArray(key);
  if (!isKey || key === '')
    throw new Invalid('The deduplication key must be text that is not empty, a number, a boolean or a list.');
  if (storageFaults(key).length > 0) throw new Invalid('The deduplication key cannot be stored.');
  return key;
};

const nameOf = (template: Template | null, event: TriggerEvent): string | null => {
  if (template === null) return null;
  const name = render(template, event, 'Work Item name').trim();
  return name === '' ? null : [...name].slice(0, maxName).join('');
};

/**
 * Judges an event by the expressions of its trigger, in the order filter, mapping, key. `maxPayloadBytes` is of a payload
 * as JSON. It may take any time, and is stopped from outside.
 */
export const evaluate = (fields: CompiledFields, event: TriggerEvent, maxPayloadBytes: number): Judgement => {
  try {
    const reason = fields.filter === null ? null : filteredBy(fields.filter, event);
    if (reason !== null) return { outcome: 'filtered', reason };
    const message = render(fields.message, event, 'message');
    if (characters(message) > maxMessage)
      throw new Invalid(`The message has more than ${maxMessage.toLocaleString('en')} characters.`);
    return {
      outcome: 'ready',
      message,
      workItemName: nameOf(fields.workItemName, event),
      payload: payloadOf(fields.payload, event, maxPayloadBytes),
      key: fields.key === null ? null : keyOf(fields.key, event),
    };
  } catch (error) {
    if (error instanceof Invalid) return { outcome: 'invalid', reason: error.message };
    if (error instanceof RangeError) return { outcome: 'invalid', reason: 'An expression nests too deep.' };
    throw error;
  }
};
