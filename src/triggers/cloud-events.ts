import { isObject } from '../lib/objects.ts';
import type { EventAttributes } from './event.ts';
import { mediaType, type ParsedBody, parseEventBody, parseJsonBody } from './event-body.ts';

/** A CloudEvent: its attributes and its data. */
export interface CloudEvent extends EventAttributes {
  id: string;
  body: unknown;
  mode: 'structured' | 'binary';
}

type Read = { cloudEvent: CloudEvent } | { invalid: string } | { batch: true };

const structuredType = 'application/cloudevents+json';
const batchType = 'application/cloudevents-batch+json';

const optionalText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** The event with these attributes, or which required one is missing (CloudEvents 1.0, section 3.1). */
const cloudEvent = (attributes: Record<string, unknown>, body: unknown, mode: CloudEvent['mode']): Read => {
  if (attributes.specversion !== '1.0')
    return { invalid: 'The CloudEvent is not of version 1.0: specversion must be "1.0".' };
  for (const name of ['id', 'source', 'type']) {
    if (optionalText(attributes[name]) === null) return { invalid: `The CloudEvent has no ${name}.` };
  }
  return {
    cloudEvent: {
      id: attributes.id as string,
      type: attributes.type as string,
      source: attributes.source as string,
      subject: optionalText(attributes.subject),
      time: optionalText(attributes.time),
      body,
      mode,
    },
  };
};

const base64Data = (text: string): ParsedBody => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text
    ? { value: text }
    : { invalid: 'data_base64 of the CloudEvent is not base64.' };
};

const structured = (bytes: Uint8Array): Read => {
  const parsed = parseJsonBody(bytes);
  if ('invalid' in parsed) return parsed;
  if (!isObject(parsed.value)) return { invalid: 'The CloudEvent is not an object.' };
  const { data = null, data_base64, ...attributes } = parsed.value;
  if (data_base64 === undefined) return cloudEvent(attributes, data, 'structured');
  const decoded =
    typeof data_base64 === 'string'
      ? base64Data(data_base64)
      : { invalid: 'data_base64 of the CloudEvent is not text.' };
  return 'invalid' in decoded ? decoded : cloudEvent(attributes, decoded.value, 'structured');
};

const percentDecoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

const binary = (headers: Record<string, string>, prefix: string, bytes: Uint8Array): Read => {
  const attributes = Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), percentDecoded(value)]),
  );
  const parsed = parseEventBody(bytes, headers['content-type']);
  return 'invalid' in parsed ? parsed : cloudEvent(attributes, parsed.value, 'binary');
};

/**
 * Reads a CloudEvent 1.0 in structured or binary mode; null if the message is none. `prefix` begins the names of the
 * headers that are attributes: `ce-` in HTTP and NATS, `ce_` in Kafka (their protocol bindings, section 3.1). `headers`
 * has names in lower case. Data in base64 stays text.
 */
export const readCloudEvent = (
  headers: Record<string, string>,
  bytes: Uint8Array,
  prefix: 'ce-' | 'ce_',
): Read | null => {
  const type = mediaType(headers['content-type']);
  if (type === batchType) return { batch: true };
  if (type === structuredType) return structured(bytes);
  return headers[`${prefix}specversion`] === undefined ? null : binary(headers, prefix, bytes);
};
