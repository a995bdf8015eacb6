import type { MessagePart } from './messages.ts';

/** Length of the part that is shown of a longer content, in bytes. */
export const shownBytes = 16_384;

/** The beginning of `text`, at most `bytes` long in UTF-8, without a broken character. */
const cutText = (text: string, bytes: number): string => {
  if (text.length <= bytes / 3) return text;
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
};

/** A content as it is downloaded. */
export interface RawContent {
  type: 'text/plain' | 'application/json';
  text: string;
}

const shownPart = (part: MessagePart): MessagePart => {
  if (part.type !== 'tool_call') return part;
  const { fault: _, ...shown } = part;
  return shown;
};

/** The content of a message as it is downloaded: a single text as it is, anything else as JSON. */
export const rawContent = (parts: readonly MessagePart[]): RawContent => {
  const [only] = parts;
  if (parts.length === 1 && only!.type !== 'tool_call') return { type: 'text/plain', text: only!.text };
  return { type: 'application/json', text: JSON.stringify(parts.map(shownPart), null, 2) };
};

/** A part of which only the beginning is there has `cut`. */
export type ShownPart = MessagePart & { cut?: true };

const cutPart = (part: MessagePart, left: number): { part: ShownPart; bytes: number } => {
  if (part.type !== 'tool_call') {
    const text = cutText(part.text, left);
    const cut = text.length < part.text.length;
    return { part: cut ? { ...part, text, cut } : part, bytes: Buffer.byteLength(text) };
  }
  const json = JSON.stringify(part.arguments) ?? '';
  const begin = cutText(json, left);
  if (begin.length === json.length) return { part, bytes: Buffer.byteLength(json) };
  return { part: { ...part, arguments: begin, cut: true }, bytes: Buffer.byteLength(begin) };
};

/** The parts, cut where they have more than `shownBytes` together. */
export const cutParts = (parts: readonly MessagePart[]): { content: ShownPart[]; cut: boolean } => {
  let left = shownBytes;
  const content = parts.map((one) => {
    const { part, bytes } = cutPart(one, left);
    left -= bytes;
    return part;
  });
  return { content, cut: content.some((part) => part.cut) };
};
