import type { BrokerMessage, LostOffsets } from '../../event-connections/index.ts';
import { newId } from '../../lib/ids.ts';
import { isObject } from '../../lib/objects.ts';
import { readCloudEvent } from '../cloud-events.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import { eventHeaders, type TriggerEvent } from '../event.ts';
import { parseEventBody } from '../event-body.ts';

export type BrokerKind = 'nats' | 'kafka';

interface Read {
  id: string;
  attributes: Pick<TriggerEvent, 'type' | 'source' | 'subject' | 'time'>;
  body: unknown;
  invalid: string | null;
}

const typeIn = (body: unknown): string | null =>
  isObject(body) && typeof body.type === 'string' && body.type !== '' ? body.type : null;

/** Reads the body, and the attributes of a CloudEvent, which are in headers or in the body. */
const read = (kind: BrokerKind, message: BrokerMessage): Read => {
  const { eventId, type, source, subject, time, headers } = message;
  const none = (invalid: string): Read => ({
    id: eventId,
    attributes: { type, source, subject, time },
    body: null,
    invalid,
  });
  const cloud = readCloudEvent(headers, message.body, kind === 'kafka' ? 'ce_' : 'ce-');
  if (cloud && 'batch' in cloud) return none('The message is a batch of CloudEvents. Send each event alone.');
  if (cloud && 'invalid' in cloud) return none(cloud.invalid);
  if (cloud) {
    const { id, body, mode: _, ...attributes } = cloud.cloudEvent;
    return { id, attributes, body, invalid: null };
  }
  const parsed = parseEventBody(message.body, headers['content-type']);
  if ('invalid' in parsed) return none(parsed.invalid);
  const attributes = { type: type ?? typeIn(parsed.value), source, subject, time };
  return { id: eventId, attributes, body: parsed.value, invalid: null };
};

/** One more than that of the Work Item whose callback was published. */
const readDepth = (header: string | undefined): number =>
  header !== undefined && /^\d{1,4}$/.test(header) ? Number(header) + 1 : 0;

/** A message as a delivery. One whose body is larger than `maxBytes` is invalid, and its body is not kept. */
export const deliveryOf = (
  trigger: { id: string; kind: BrokerKind },
  message: BrokerMessage,
  { maxBytes, receivedAt }: { maxBytes: number; receivedAt: Date },
): Delivery => {
  const isTooLarge = message.body.length > maxBytes;
  const kilobytes = Math.ceil(message.body.length / 1024).toLocaleString('en');
  const { id, attributes, body, invalid } = isTooLarge
    ? {
        ...read(trigger.kind, { ...message, body: Buffer.alloc(0) }),
        invalid: `The body has ${kilobytes} KB, more than MAX_EVENT_SIZE_IN_KB.`,
      }
    : read(trigger.kind, message);
  return {
    triggerId: trigger.id,
    occurrenceId: newId(),
    identity: message.identity,
    event: {
      id,
      ...attributes,
      received_at: receivedAt.toISOString(),
      headers: eventHeaders(Object.entries(message.headers)),
      body,
    },
    position: message.eventId,
    known: invalid === null ? null : { outcome: 'invalid', reason: invalid },
    raw: isTooLarge ? null : message.body,
    depth: readDepth(message.headers['agent-platform-depth']),
  };
};

/** Offsets that Kafka dropped before they were read, as one entry of the ledger. */
export const deliveryOfLost = (
  triggerId: string,
  topic: string,
  { sourceId, partition, from, to }: LostOffsets,
  receivedAt: Date,
): Delivery => {
  const count = (to - from + 1).toLocaleString('en');
  const range = from === to ? `the offset ${from}` : `the offsets ${from} to ${to}`;
  return {
    triggerId,
    occurrenceId: newId(),
    identity: `lost ${sourceId} ${partition} ${from} ${to}`,
    event: {
      id: `${partition}/${from}`,
      type: null,
      source: topic,
      subject: null,
      time: null,
      received_at: receivedAt.toISOString(),
      headers: {},
      body: null,
    },
    position: `${partition}/${from}`,
    known: {
      outcome: 'lost',
      reason: `Kafka dropped ${range} of partition ${partition} before they were read: ${count} offsets.`,
    },
    raw: null,
    depth: 0,
  };
};
