const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Sums up the arguments of a call in a line: `order: 7731, currency: EUR`. */
export const summaryOf = (value: unknown): string => {
  const short = (each: unknown): string =>
    typeof each === 'string' ? each : typeof each === 'object' ? JSON.stringify(each) : String(each);
  const text = isObject(value)
    ? Object.entries(value)
        .slice(0, 8)
        .map(([key, each]) => `${key}: ${short(each).slice(0, 80)}`)
        .join(', ')
    : value === undefined || value === null
      ? ''
      : short(value);
  return text.replaceAll(/\s+/g, ' ').slice(0, 200);
};

/** JSON with indentation, or the text as it is if it is none. */
export const prettyJson = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? '';
  if (!/^\s*[[{]/.test(value) || value.length > 256_000) return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
};

/** The tool that needs approval, if the platform's own sentence says nothing more; null for any other reason. */
export const toolOfReason = (reason: string | null | undefined): string | null =>
  /^A person must approve each call of (\S+)\.$/.exec(reason ?? '')?.[1] ?? null;

/** The text of the platform between the message and the payload of a Work Item in its first message. */
const payloadSeparator = '\n\nPayload (JSON):\n';

/** The message of a Work Item and its payload, which is JSON, or the beginning of it; null if there is none. */
export const splitPayload = (text: string): { before: string; payload: string | null } => {
  const at = text.lastIndexOf(payloadSeparator);
  return at < 0 || text[at + payloadSeparator.length] !== '{'
    ? { before: text, payload: null }
    : { before: text.slice(0, at), payload: text.slice(at + payloadSeparator.length) };
};

/** The tool asks for input while it is called. */
export const asksInput = ({ kind }: { kind: string }): boolean => kind === 'input';
