import { z } from 'zod';
import type { EgressResponse } from '../../lib/egress.ts';
import type { Box, Line, Page } from '../../sandbox/index.ts';

/** A document as a provider gets it. */
export interface ReaderDocument {
  bytes: Buffer;
  contentType: string;
  name: string;
  /** The pages asked for, from 1; null for all. */
  pages: number[] | null;
}

/** Reads the pages of a document. Throws ReaderFailure. */
export type Reader = (document: ReaderDocument, signal: AbortSignal) => Promise<Page[]>;

/** A provider cannot be reached, refuses, or returned what it should not. The message holds nothing that was sent. */
export class ReaderFailure extends Error {
  override readonly name = 'ReaderFailure';
}

/** The largest response that is read, in bytes. */
export const maxResponseBytes = 32 * 1024 * 1024;
export const readerTimeoutMs = 300_000;

/** The JSON of a response with status 200. Throws ReaderFailure. */
export const readJson = <S extends z.ZodType>(response: EgressResponse, schema: S): z.output<S> => {
  if (response.status !== 200) throw new ReaderFailure(`the reader returned status ${response.status}`);
  if (response.truncated) throw new ReaderFailure('the response of the reader is too large');
  let value: unknown;
  try {
    value = JSON.parse(response.body.toString('utf8'));
  } catch {
    throw new ReaderFailure('the reader returned no JSON');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ReaderFailure(`the response of the reader is not as it should be at ${issue?.path.join('.')}`);
  }
  return parsed.data;
};

export const finite = z.number().refine(Number.isFinite);
export const pageNumber = z.int().min(1).max(100_000);
export const size = z.number().positive().max(1e9);

/** A box in the unit of `width` and `height`, as parts of the page. */
export const scaledBox = (box: Box, { width, height }: { width: number; height: number }): Box => ({
  left: box.left / width,
  top: box.top / height,
  width: box.width / width,
  height: box.height / height,
});

/** The lines of a text, which may have line ends: each has the box of all of them. */
export const linesOf = (text: string, more: Omit<Line, 'text'>): Line[] =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .filter((line) => line.trim() !== '')
    .map((line) => ({ ...more, text: line }));
