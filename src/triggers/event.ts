/**
 * An event as expressions see it, in the variable `event`. What the sender did not say is null. Names of headers are in
 * lower case. In `body`, numbers are doubles, and whole numbers beyond ±2^53 are text.
 */
export interface TriggerEvent {
  /** The sender's name for the event. */
  id: string;
  type: string | null;
  source: string;
  subject: string | null;
  /** The sender's time, as it was sent. */
  time: string | null;
  /** The platform's time, as RFC 3339. */
  received_at: string;
  headers: Record<string, string>;
  body: unknown;
}

/** What the sender says about its event, apart from the body. */
export type EventAttributes = Pick<TriggerEvent, 'type' | 'source' | 'subject' | 'time'>;

const mostHeaders = 64;
const mostHeaderBytes = 16_384;

/** The first 64 headers within 16 KB, with names in lower case. Those that `leftOut` names are not among them. */
export const eventHeaders = (
  headers: Iterable<readonly [name: string, value: string]>,
  leftOut: (name: string) => boolean = () => false,
): Record<string, string> => {
  const kept: [string, string][] = [];
  let bytes = 0;
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    if (leftOut(name)) continue;
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (kept.length === mostHeaders || bytes > mostHeaderBytes) break;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
};
