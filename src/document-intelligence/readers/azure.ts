import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Egress, EgressResponse } from '../../lib/egress.ts';
import type { Box, Line, Page, Word } from '../../sandbox/index.ts';
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
/** x and y of each corner; what has no layout has none. */
const polygon = z.array(finite).default([]);
const span = z.object({ offset: z.int().min(0), length: z.int().min(0) });

/** The used part of the result of `prebuilt-layout`. */
const result = z.object({
  status: z.enum(['notStarted', 'running', 'succeeded', 'failed', 'canceled', 'skipped']),
  analyzeResult: z
    .object({
      pages: z.array(
        z.object({
          pageNumber,
          width: size.optional(),
          height: size.optional(),
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

/**
 * Returns the milliseconds before a request is sent again: as long as the service says, else a second. Its free
 * tier answers one question a second.
 */
const pauseMs = { least: 100, usual: 1_000, most: 60_000 };

const pauseAfter = ({ headers }: EgressResponse): number => {
  const given = headers['retry-after'];
  if (given === undefined || !/^\d{1,6}$/.test(given)) return pauseMs.usual;
  return Math.min(Math.max(Number(given) * 1_000, pauseMs.least), pauseMs.most);
};

/** Azure AI Document Intelligence: the document is sent, then its result is asked for until it is there. */
export const azureReader =
  (egress: Egress, { endpoint, api_key }: { endpoint: string; api_key: string }): Reader =>
  async ({ bytes, contentType, pages }, signal) => {
    const deadline = Date.now() + readerTimeoutMs;
    const pause = async (answer: EgressResponse): Promise<void> => {
      const wait = pauseAfter(answer);
      if (Date.now() + wait > deadline) throw new ReaderFailure('the reader did not finish in time');
      await sleep(wait, undefined, { signal });
    };
    /** Sends a request, and again while the service is too busy for it. */
    const ask = async (url: string, document?: { body: Buffer; type: string }): Promise<EgressResponse> => {
      for (;;) {
        const answer = await egress.request(url, {
          method: document ? 'POST' : 'GET',
          headers: {
            'ocp-apim-subscription-key': api_key,
            ...(document && { 'content-type': document.type }),
          },
          ...(document && { body: document.body }),
          timeoutMs: Math.max(deadline - Date.now(), 1),
          maxBodyBytes: maxResponseBytes,
          signal,
        });
        if (answer.status !== 429 && answer.status !== 503) return answer;
        await pause(answer);
      }
    };
    const url = new URL(
      `${endpoint.replace(/\/+$/, '')}/documentintelligence/documentModels/prebuilt-layout:analyze`,
    );
    url.searchParams.set('api-version', apiVersion);
    url.searchParams.set('stringIndexType', 'utf16CodeUnit');
    if (pages) url.searchParams.set('pages', pages.join(','));
    const accepted = await ask(url.href, { body: bytes, type: contentType });
    if (accepted.status !== 202) throw new ReaderFailure(`the reader returned status ${accepted.status}`);
    const operation = operationAddress(accepted.headers['operation-location'], url);
    let answer = accepted;
    for (;;) {
      await pause(answer);
      answer = await ask(operation);
      const { status, analyzeResult } = readJson(answer, result);
      if (status === 'succeeded' && analyzeResult) return analyzeResult.pages.map(pageOf);
      if (status !== 'running' && status !== 'notStarted') {
        throw new ReaderFailure(`the reader ended with the status ${status}`);
      }
    }
  };

const pageOf = (page: AzurePage): Page => {
  const { pageNumber: number, width, height } = page;
  const lines = linesOfPage(page);
  return { page: number, lines, ...(width && height && { aspect: width / height }) };
};

/** Throws for a result on another origin, which would get the key. */
const operationAddress = (location: string | undefined, { origin }: URL): string => {
  if (location === undefined || !URL.canParse(location) || new URL(location).origin !== origin) {
    throw new ReaderFailure('the reader returned an Operation-Location that is not on its own origin');
  }
  return location;
};

/** Null for what has no layout. */
const boxOf = (points: number[], { width, height }: AzurePage): Box | null => {
  if (points.length < 4 || !width || !height) return null;
  const xs = points.filter((_value, i) => i % 2 === 0);
  const ys = points.filter((_value, i) => i % 2 === 1);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return scaledBox(
    { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top },
    { width, height },
  );
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
      const bbox = boxOf(word.polygon, page);
      if (start !== -1 && bbox) own.push({ start, end: start + word.content.length, bbox });
    }
    return { text, bbox: boxOf(points, page), words: own, confidence };
  });
};
