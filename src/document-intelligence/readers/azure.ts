import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Egress } from '../../lib/egress.ts';
import type { Box, Line, Word } from '../../sandbox/index.ts';
import {
  finite,
  maxResponseBytes,
  pageNumber,
  type Reader,
  ReaderFailure,
  readerTimeoutMs,
  readJson,
  scaledBox,
  size,
} from './reader.ts';

const apiVersion = '2024-11-30';
const polygon = z.array(finite).min(8);
const span = z.object({ offset: z.int().min(0), length: z.int().min(0) });

/** What is used of the result of `prebuilt-layout`. */
const result = z.object({
  status: z.enum(['notStarted', 'running', 'succeeded', 'failed', 'canceled', 'skipped']),
  analyzeResult: z
    .object({
      pages: z.array(
        z.object({
          pageNumber,
          width: size,
          height: size,
          lines: z.array(z.object({ content: z.string(), polygon, spans: z.array(span).min(1) })).default([]),
          words: z
            .array(z.object({ content: z.string(), polygon, confidence: z.number().min(0).max(1), span }))
            .default([]),
        }),
      ),
    })
    .optional(),
});
type AzurePage = NonNullable<z.output<typeof result>['analyzeResult']>['pages'][number];

/** How long to wait before the result is asked for again, in milliseconds. */
const pollMs = { least: 500, most: 10_000 };

/** Azure AI Document Intelligence: the document is sent, then its result is asked for until it is there. */
export const azureReader =
  (egress: Egress, { endpoint, api_key }: { endpoint: string; api_key: string }): Reader =>
  async ({ bytes, contentType, pages }, signal) => {
    const deadline = Date.now() + readerTimeoutMs;
    const headers = { 'ocp-apim-subscription-key': api_key };
    const url = new URL(
      `${endpoint.replace(/\/+$/, '')}/documentintelligence/documentModels/prebuilt-layout:analyze`,
    );
    url.searchParams.set('api-version', apiVersion);
    url.searchParams.set('stringIndexType', 'utf16CodeUnit');
    if (pages) url.searchParams.set('pages', pages.join(','));
    const accepted = await egress.request(url.href, {
      method: 'POST',
      headers: { ...headers, 'content-type': contentType },
      body: bytes,
      timeoutMs: readerTimeoutMs,
      signal,
    });
    if (accepted.status !== 202) throw new ReaderFailure(`the reader returned status ${accepted.status}`);
    const operation = operationAddress(accepted.headers['operation-location'], url);
    for (;;) {
      const answer = await egress.request(operation, {
        method: 'GET',
        headers,
        timeoutMs: Math.max(deadline - Date.now(), 1),
        maxBodyBytes: maxResponseBytes,
        signal,
      });
      const { status, analyzeResult } = readJson(answer, result);
      if (status === 'succeeded' && analyzeResult) {
        return analyzeResult.pages.map((page) => ({
          page: page.pageNumber,
          lines: linesOfPage(page),
          aspect: page.width / page.height,
        }));
      }
      if (status !== 'running' && status !== 'notStarted') {
        throw new ReaderFailure(`the reader ended with the status ${status}`);
      }
      const asked = Number(answer.headers['retry-after'] ?? 0) * 1_000 || 0;
      const wait = Math.min(Math.max(asked, pollMs.least), pollMs.most);
      if (Date.now() + wait > deadline) throw new ReaderFailure('the reader did not finish in time');
      await sleep(wait, undefined, { signal });
    }
  };

/** Where the result is. On another origin it would get the key. */
const operationAddress = (location: string | undefined, { origin }: URL): string => {
  if (location === undefined || !URL.canParse(location) || new URL(location).origin !== origin) {
    throw new ReaderFailure('the reader returned an Operation-Location that is not on its own origin');
  }
  return location;
};

const boxOf = (points: number[], page: AzurePage): Box => {
  const xs = points.filter((_value, i) => i % 2 === 0);
  const ys = points.filter((_value, i) => i % 2 === 1);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return scaledBox({ left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top }, page);
};

/** The number of the first word at `from` or after it. */
const firstFrom = (words: readonly { span: { offset: number } }[], from: number): number => {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (words[middle]!.span.offset < from) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Words are matched to lines by the places of both in the text; both come in its order. */
const linesOfPage = (page: AzurePage): Line[] => {
  const words = [...page.words].sort((a, b) => a.span.offset - b.span.offset);
  return page.lines.map(({ content, polygon: points, spans }): Line => {
    const text = content.replace(/[\n\r\u2028\u2029]+/g, ' ');
    const [from, to] = [spans[0]!.offset, Math.max(...spans.map(({ offset, length }) => offset + length))];
    let next = firstFrom(words, from);
    const own: Word[] = [];
    let confidence = 1;
    for (; next < words.length && words[next]!.span.offset < to; next++) {
      const word = words[next]!;
      confidence = Math.min(confidence, word.confidence);
      const start = text.indexOf(word.content, own.at(-1)?.end ?? 0);
      if (start !== -1)
        own.push({ start, end: start + word.content.length, bbox: boxOf(word.polygon, page) });
    }
    return { text, bbox: boxOf(points, page), words: own, confidence };
  });
};
