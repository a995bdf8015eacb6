import { z } from 'zod';
import type { Egress } from '../../lib/egress.ts';
import type { Box, Line, Page } from '../../sandbox/index.ts';
import {
  finite,
  linesOf,
  maxResponseBytes,
  pageNumber,
  type Reader,
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
});

/** What is used of a DoclingDocument (github.com/docling-project/docling-core). */
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
    }),
  }),
});
type Content = z.output<typeof response>['document']['json_content'];
type Place = z.output<typeof place>;

/** docling-serve: one form, whose response has the document with the places of its texts. */
export const doclingReader =
  (egress: Egress, { url, api_key }: { url: string; api_key?: string }): Reader =>
  async ({ bytes, contentType, name, pages }, signal) => {
    const form = new FormData();
    form.append('files', new Blob([new Uint8Array(bytes)], { type: contentType }), name);
    form.append('to_formats', 'json');
    form.append('image_export_mode', 'placeholder');
    if (pages && pages.length > 0) {
      form.append('page_range', String(Math.min(...pages)));
      form.append('page_range', String(Math.max(...pages)));
    }
    const encoded = new Response(form);
    const answer = await egress.request(`${url.replace(/\/+$/, '')}/v1/convert/file`, {
      method: 'POST',
      headers: {
        'content-type': encoded.headers.get('content-type')!,
        accept: 'application/json',
        ...(api_key === undefined ? {} : { 'x-api-key': api_key }),
      },
      body: Buffer.from(await encoded.arrayBuffer()),
      timeoutMs: readerTimeoutMs,
      maxBodyBytes: maxResponseBytes,
      signal,
    });
    const { status, document } = readJson(answer, response);
    if (status === 'failure') throw new ReaderFailure('the reader could not convert the document');
    return pagesOf(document.json_content);
  };

const pagesOf = (content: Content): Page[] => {
  const pages = new Map<number, Line[]>();
  for (const number of Object.keys(content.pages)) {
    const page = Number(number);
    if (Number.isSafeInteger(page) && page >= 1) pages.set(page, []);
  }
  const add = (text: string, at: Place | undefined): void => {
    const lines = at && pages.get(at.page_no);
    if (lines) lines.push(...linesOf(text, { bbox: boxOf(at, content) }));
  };
  for (const item of inOrder(content)) {
    const [at] = item.prov;
    if ('text' in item) add(item.text, at);
    else for (const row of rowsOf(item.data.table_cells)) add(row, at);
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
}: Content): (Content['texts'][0] | Content['tables'][0])[] => {
  const lists: Record<string, readonly { children: { $ref: string }[] }[]> = { texts, tables, groups };
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

/** The rows of a table as lines, their cells divided by tabs. */
const rowsOf = (cells: z.output<typeof cell>[]): string[] => {
  const rows = new Map<number, z.output<typeof cell>[]>();
  for (const item of cells) {
    rows.set(item.start_row_offset_idx, [...(rows.get(item.start_row_offset_idx) ?? []), item]);
  }
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([, row]) =>
      row
        .sort((a, b) => a.start_col_offset_idx - b.start_col_offset_idx)
        .map(({ text }) => text.replace(/\s+/g, ' '))
        .join('\t'),
    );
};

const boxOf = ({ page_no, bbox: { l, t, r, b, coord_origin } }: Place, content: Content): Box | null => {
  const page = content.pages[String(page_no)];
  if (!page) return null;
  const { width, height } = page.size;
  // Docling counts from the bottom unless it says otherwise.
  const [top, bottom] = coord_origin === 'TOPLEFT' ? [t, b] : [height - t, height - b];
  return { left: l / width, top: top / height, width: (r - l) / width, height: (bottom - top) / height };
};
