import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Egress } from '../../lib/egress.ts';
import type { Box, Line, Page } from '../../sandbox/index.ts';
import { around } from '../boxes.ts';
import {
  finite,
  linesOf,
  maxResponseBytes,
  pageNumber,
  type Reader,
  type ReaderDocument,
  ReaderFailure,
  readerTimeoutMs,
  readJson,
  size,
} from './reader.ts';

const bbox = z.object({ l: finite, t: finite, r: finite, b: finite, coord_origin: z.string().optional() });
const place = z.object({ page_no: pageNumber, bbox });
const children = z.array(z.object({ $ref: z.string() })).default([]);
const cell = z.object({
  text: z.string(),
  start_row_offset_idx: z.int(),
  start_col_offset_idx: z.int(),
  bbox: bbox.nullish(),
});

/** The used part of a DoclingDocument (github.com/docling-project/docling-core). */
const response = z.object({
  status: z.string().optional(),
  document: z.object({
    json_content: z.object({
      pages: z.record(z.string(), z.object({ size: z.object({ width: size, height: size }) })),
      body: z.object({ children }).optional(),
      groups: z.array(z.object({ children })).default([]),
      texts: z.array(z.object({ text: z.string(), prov: z.array(place).default([]), children })).default([]),
      tables: z
        .array(
          z.object({
            data: z.object({ table_cells: z.array(cell).default([]) }),
            prov: z.array(place).default([]),
            children,
          }),
        )
        .default([]),
      pictures: z.array(z.object({ children })).default([]),
    }),
  }),
});
type Content = z.output<typeof response>['document']['json_content'];
type Place = z.output<typeof place>;

const task = z.object({ task_id: z.string().regex(/^[\w-]{1,100}$/), task_status: z.string() });
const failed = ['failure', 'skipped'];
const succeeded = ['success', 'partial_success'];

/** Seconds that docling-serve may hold a poll of a task. Polls repeat until the task has ended. */
const pollSeconds = 5;

const formOf = ({ bytes, contentType, name, pages }: ReaderDocument): FormData => {
  const form = new FormData();
  form.append('files', new Blob([new Uint8Array(bytes)], { type: contentType }), name);
  form.append('to_formats', 'json');
  form.append('image_export_mode', 'placeholder');
  if (pages && pages.length > 0) {
    form.append('page_range', String(Math.min(...pages)));
    form.append('page_range', String(Math.max(...pages)));
  }
  return form;
};

/**
 * docling-serve: one form, whose response has the document with the places of its texts. A conversion of more than 120 s
 * (its setting DOCLING_SERVE_MAX_SYNC_WAIT) is a 504: the document is sent again, as a task that is waited for.
 */
export const doclingReader =
  (egress: Egress, { url, api_key }: { url: string; api_key?: string }): Reader =>
  async (document, signal) => {
    const deadline = Date.now() + readerTimeoutMs;
    const encoded = new Response(formOf(document));
    const type = encoded.headers.get('content-type')!;
    const body = Buffer.from(await encoded.arrayBuffer());
    const ask = (path: string, form?: Buffer) =>
      egress.request(`${url.replace(/\/+$/, '')}/v1/${path}`, {
        method: form ? 'POST' : 'GET',
        headers: {
          accept: 'application/json',
          ...(form ? { 'content-type': type } : {}),
          ...(api_key === undefined ? {} : { 'x-api-key': api_key }),
        },
        ...(form ? { body: form } : {}),
        timeoutMs: Math.max(deadline - Date.now(), 1),
        maxBodyBytes: maxResponseBytes,
        signal,
      });
    const converted = await ask('convert/file', body);
    if (converted.status !== 504) return contentOf(readJson(converted, response));
    let { task_id, task_status } = readJson(await ask('convert/file/async', body), task);
    let pause = 100;
    while (!succeeded.includes(task_status)) {
      if (failed.includes(task_status)) throw new ReaderFailure('the reader could not convert the document');
      if (Date.now() > deadline) throw new ReaderFailure('the reader did not finish in time');
      const asked = Date.now();
      ({ task_status } = readJson(await ask(`status/poll/${task_id}?wait=${pollSeconds}`), task));
      // For a server that does not hold the question.
      pause = Math.min(pause * 2, 2_000);
      const wait = pause - (Date.now() - asked);
      if (wait > 0 && !succeeded.includes(task_status)) await sleep(wait, undefined, { signal });
    }
    return contentOf(readJson(await ask(`result/${task_id}`), response));
  };

const contentOf = ({ status, document }: z.output<typeof response>): Page[] => {
  if (status !== undefined && failed.includes(status))
    throw new ReaderFailure('the reader could not convert the document');
  return pagesOf(document.json_content);
};

const pagesOf = (content: Content): Page[] => {
  const pages = new Map<number, Line[]>();
  for (const number of Object.keys(content.pages)) {
    const page = Number(number);
    if (Number.isSafeInteger(page) && page >= 1) pages.set(page, []);
  }
  const add = (text: string, at: Place | undefined, own: Box | null = null): void => {
    const lines = at && pages.get(at.page_no);
    if (lines) lines.push(...linesOf(text, { bbox: own ?? boxOf(at, content) }));
  };
  for (const item of inOrder(content)) {
    const [at] = item.prov;
    if ('text' in item) add(item.text, at);
    else
      for (const row of rowsOf(item.data.table_cells))
        add(textOf(row), at, at ? rowBox(row, at, content) : null);
  }
  return [...pages]
    .sort(([a], [b]) => a - b)
    .map(([page, lines]) => {
      const { width, height } = content.pages[String(page)]!.size;
      return { page, lines, aspect: width / height };
    });
};

/** The texts and tables in the order in which people read them, then those outside the body: headers and footers. */
const inOrder = ({
  body,
  texts,
  tables,
  groups,
  pictures,
}: Content): (Content['texts'][0] | Content['tables'][0])[] => {
  const lists: Record<string, readonly { children: { $ref: string }[] }[]> = {
    texts,
    tables,
    groups,
    pictures,
  };
  const seen = new Set<string>();
  const found: (Content['texts'][0] | Content['tables'][0])[] = [];
  const left = [...(body?.children ?? [])].reverse().map(({ $ref }) => $ref);
  for (let reference = left.pop(); reference !== undefined; reference = left.pop()) {
    const [, list = '', index = ''] = reference.split('/');
    const item = Object.hasOwn(lists, list) ? lists[list]![Number(index)] : undefined;
    if (!item || seen.has(reference)) continue;
    seen.add(reference);
    if ('prov' in item) found.push(item as Content['texts'][0]);
    left.push(...[...item.children].reverse().map(({ $ref }) => $ref));
  }
  const rest = [
    ...texts.filter((_text, i) => !seen.has(`#/texts/${i}`)),
    ...tables.filter((_table, i) => !seen.has(`#/tables/${i}`)),
  ];
  return [...found, ...rest];
};

type Cell = z.output<typeof cell>;

/** The rows of a table, their cells from left to right. */
const rowsOf = (cells: Cell[]): Cell[][] => {
  const rows = Map.groupBy(cells, (each) => each.start_row_offset_idx);
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row.sort((a, b) => a.start_col_offset_idx - b.start_col_offset_idx));
};

/** A row as a line, its cells divided by tabs. */
const textOf = (row: Cell[]): string => row.map(({ text }) => text.replace(/\s+/g, ' ')).join('\t');

/** The box around the cells of a row; null if the reader does not say where they are. */
const rowBox = (row: Cell[], { page_no }: Place, content: Content): Box | null => {
  const boxes = row.flatMap(({ bbox: own }) => (own ? [boxOf({ page_no, bbox: own }, content)] : []));
  const known = boxes.filter((box) => box !== null);
  return known.length === 0 ? null : around(known);
};

const boxOf = ({ page_no, bbox: { l, t, r, b, coord_origin } }: Place, content: Content): Box | null => {
  const page = content.pages[String(page_no)];
  if (!page) return null;
  const { width, height } = page.size;
  // Docling counts from the bottom unless it says otherwise.
  const [top, bottom] = coord_origin === 'TOPLEFT' ? [t, b] : [height - t, height - b];
  return { left: l / width, top: top / height, width: (r - l) / width, height: (bottom - top) / height };
};
