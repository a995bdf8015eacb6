import { z } from 'zod';
import type { Egress } from '../../lib/egress.ts';
import {
  finite,
  linesOf,
  maxResponseBytes,
  pageNumber,
  type Reader,
  readerTimeoutMs,
  readJson,
  scaledBox,
  size,
} from './reader.ts';

const response = z.object({
  pages: z.array(
    z.object({
      page: pageNumber,
      width: size,
      height: size,
      lines: z.array(
        z.object({
          text: z.string(),
          bbox: z.object({ left: finite, top: finite, width: finite, height: finite }).nullish(),
          confidence: z.number().min(0).max(1).nullish(),
        }),
      ),
    }),
  ),
});

/** A reader of one's own: a POST of the bytes, whose response has the pages with their lines. */
export const httpReader =
  (egress: Egress, { url, headers = {} }: { url: string; headers?: Record<string, string> }): Reader =>
  async ({ bytes, contentType }, signal) => {
    const answer = await egress.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': contentType, accept: 'application/json' },
      body: bytes,
      timeoutMs: readerTimeoutMs,
      maxBodyBytes: maxResponseBytes,
      signal,
    });
    return readJson(answer, response).pages.map(({ page, lines, ...pageSize }) => ({
      page,
      aspect: pageSize.width / pageSize.height,
      lines: lines.flatMap(({ text, bbox, confidence }) =>
        linesOf(text, {
          bbox: bbox ? scaledBox(bbox, pageSize) : null,
          ...(confidence != null && { confidence }),
        }),
      ),
    }));
  };
