import type { Vault } from '../../lib/crypto.ts';
import { readCloudEvent } from '../cloud-events.ts';
import type { TriggerEvent } from '../event.ts';
import { parseEventBody, utf8 } from '../event-body.ts';
import type { Kind } from '../settings.ts';

/** What is kept of a delivery for some days: headers without credentials, attributes, and the body as it arrived. */
export interface Content extends Omit<TriggerEvent, 'body'> {
  raw: Buffer;
}

const boundTo = (id: string): string => `trigger_event_bodies:${id}`;

/** Seals what is kept of the event with this id of the ledger. */
export const sealContent = (vault: Vault, id: string, { raw, ...event }: Content): string =>
  vault.seal(JSON.stringify({ ...event, raw: raw.toString('base64') }), boundTo(id));

export const openContent = (vault: Vault, id: string, sealed: string): Content => {
  const { raw, ...event } = JSON.parse(vault.open(sealed, boundTo(id))) as Omit<Content, 'raw'> & {
    raw: string;
  };
  return { ...event, raw: Buffer.from(raw, 'base64') };
};

/** The body as text; null if it is not in UTF-8. */
export const textOf = ({ raw }: Content): string | null => utf8(raw);

/** The event again, as expressions see it, or why its body cannot be read. */
export const eventOf = (
  kind: Kind,
  { raw, ...event }: Content,
): { event: TriggerEvent } | { invalid: string } => {
  const read = readCloudEvent(event.headers, raw, kind === 'kafka' ? 'ce_' : 'ce-');
  if (read && 'cloudEvent' in read) return { event: { ...event, body: read.cloudEvent.body } };
  if (read && 'invalid' in read) return { invalid: read.invalid };
  const parsed = parseEventBody(raw, event.headers['content-type']);
  return 'value' in parsed ? { event: { ...event, body: parsed.value } } : parsed;
};
