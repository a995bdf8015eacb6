import type { CallToolResult } from '@modelcontextprotocol/client';
import { rfc8785 } from '../../lib/rfc8785.ts';
import { shortened } from './failures.ts';

/** The longest text that a model gets of one call, in UTF-16 code units. */
const maxText = 200_000;
const cutMark = ' [cut]';

type Part = CallToolResult['content'][number];

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64');

/** Returns a note in the place of something that only people could look at. */
const note = (type: string | undefined, fallback: string, size: number | undefined): string => {
  const bytes = size === undefined ? '' : `, ${size.toLocaleString('en')} bytes`;
  return `[${shortened(type ?? fallback, 100)}${bytes}: not passed on]`;
};

const textOf = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return note(part.mimeType, part.type, bytesOf(part.data));
    case 'resource': {
      const { resource } = part;
      return 'text' in resource
        ? note(resource.mimeType, 'text/plain', Buffer.byteLength(resource.text))
        : note(resource.mimeType, 'application/octet-stream', bytesOf(resource.blob));
    }
    case 'resource_link':
      return note(part.mimeType, 'resource link', part.size);
  }
};

const isSameJson = (text: string, value: unknown): boolean => {
  try {
    return rfc8785(JSON.parse(text)) === rfc8785(value);
  } catch {
    return false;
  }
};

const cut = (text: string): string =>
  text.length <= maxText ? text : text.slice(0, maxText - cutMark.length).toWellFormed() + cutMark;

/**
 * The text of a result for the model: its texts, a note for everything that is none, and the structured content unless
 * one of the texts is the same JSON. `redact` takes secrets out. `fault` says why the structured content is wrong.
 */
export const resultText = (
  { content, structuredContent }: CallToolResult,
  redact: (text: string) => string,
  fault: string | null,
): string => {
  const texts = content.map(textOf);
  if (structuredContent !== undefined && !texts.some((text) => isSameJson(text, structuredContent))) {
    texts.push(JSON.stringify(structuredContent));
  }
  if (fault !== null) {
    texts.unshift(`The tool ran, but its structured result does not match its output schema: ${fault}`);
  }
  return cut(redact(texts.join('\n')));
};
