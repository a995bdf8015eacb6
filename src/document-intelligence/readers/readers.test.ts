import { expect, onTestFinished, test } from 'vitest';
import { ReaderServer } from '../../../tests/harness/document-readers.ts';
import { createEgress } from '../../lib/egress.ts';
import type { ReaderSettings } from '../configuration/settings.ts';
import { readerOf } from './index.ts';

const egress = createEgress({});
const document = {
  bytes: Buffer.from('%PDF-'),
  contentType: 'application/pdf',
  name: 'a.pdf',
  pages: [2, 3],
};

const serve = async (answer: Parameters<typeof ReaderServer.start>[0]) => {
  const server = await ReaderServer.start(answer);
  onTestFinished(() => server.stop());
  return server;
};
const read = (settings: ReaderSettings, signal = new AbortController().signal) =>
  readerOf(egress, settings)!(document, signal);

test('http: the bytes are sent as they are, and lines come with boxes in the unit of the page', async () => {
  const server = await serve(() => ({
    body: {
      pages: [
        {
          page: 2,
          width: 200,
          height: 100,
          lines: [
            { text: 'a\nb', bbox: { left: 20, top: 10, width: 100, height: 50 }, confidence: 0.5 },
            { text: 'c', bbox: null },
          ],
        },
      ],
    },
  }));
  const bbox = { left: 0.1, top: 0.1, width: 0.5, height: 0.5 };
  expect(await read({ provider: 'http', url: `${server.url}/read?x=1`, headers: { 'X-Key': 'k' } })).toEqual([
    {
      page: 2,
      aspect: 2,
      lines: [
        { text: 'a', bbox, confidence: 0.5 },
        { text: 'b', bbox, confidence: 0.5 },
        { text: 'c', bbox: null },
      ],
    },
  ]);
  const [request] = server.requests;
  expect([
    request!.method,
    request!.url,
    request!.headers['x-key'],
    request!.headers['content-type'],
  ]).toEqual(['POST', '/read?x=1', 'k', 'application/pdf']);
  expect(request!.body).toEqual(document.bytes);
});

/** A box as azure writes it: four corners. */
const polygon = (l: number, t: number, r: number, b: number) => [l, t, r, t, r, b, l, b];

test('azure: the result is asked for until it is there, and a line is as sure as its least sure word', async () => {
  let asked = 0;
  const atOnce = { 'retry-after': '0' };
  const server = await serve(({ method }, url) => {
    asked++;
    // Busy for the document and for the question, then at work.
    if (asked === 1 || asked === 3) return { status: 429, headers: atOnce, body: { error: { code: '429' } } };
    if (method === 'POST') {
      const location = `${url}/results/1?api-version=2024-11-30`;
      return { status: 202, headers: { ...atOnce, 'operation-location': location } };
    }
    if (asked === 4) return { headers: atOnce, body: { status: 'running' } };
    const word = (content: string, offset: number, confidence: number, left: number) => ({
      content,
      confidence,
      polygon: polygon(left, 1, left + 1, 2),
      span: { offset, length: content.length },
    });
    return {
      body: {
        status: 'succeeded',
        analyzeResult: {
          pages: [
            {
              pageNumber: 2,
              width: 10,
              height: 10,
              lines: [
                { content: 'Total 5', polygon: polygon(1, 1, 4, 2), spans: [{ offset: 0, length: 7 }] },
                { content: 'x', polygon: polygon(1, 3, 2, 4), spans: [{ offset: 8, length: 1 }] },
              ],
              words: [word('Total', 0, 0.9, 1), word('5', 6, 0.6, 3), word('x', 8, 1, 1)],
            },
          ],
        },
      },
    };
  });
  const [page] = await read({ provider: 'azure', endpoint: `${server.url}/`, api_key: 'secret' });
  expect(page!.lines).toEqual([
    {
      text: 'Total 5',
      bbox: { left: 0.1, top: 0.1, width: 0.3, height: 0.1 },
      confidence: 0.6,
      words: [
        { start: 0, end: 5, bbox: { left: 0.1, top: 0.1, width: 0.1, height: 0.1 } },
        { start: 6, end: 7, bbox: { left: 0.3, top: 0.1, width: 0.1, height: 0.1 } },
      ],
    },
    expect.objectContaining({ text: 'x', confidence: 1 }),
  ]);
  const [first] = server.requests;
  expect(first!.url).toBe(
    '/documentintelligence/documentModels/prebuilt-layout:analyze?api-version=2024-11-30&stringIndexType=utf16CodeUnit&pages=2%2C3',
  );
  expect(new Set(server.requests.map(({ headers }) => headers['ocp-apim-subscription-key']))).toEqual(
    new Set(['secret']),
  );
});

test('azure: sizes and polygons may be missing, as its documents say; then there are no boxes', async () => {
  const span = { offset: 0, length: 5 };
  const server = await serve(({ method }, url) =>
    method === 'POST'
      ? { status: 202, headers: { 'retry-after': '0', 'operation-location': `${url}/results/1` } }
      : {
          body: {
            status: 'succeeded',
            analyzeResult: {
              pages: [
                {
                  pageNumber: 2,
                  spans: [span],
                  lines: [{ content: 'Total', spans: [span] }],
                  words: [{ content: 'Total', confidence: 0.5, span }],
                },
                { pageNumber: 3, spans: [] },
              ],
            },
          },
        },
  );
  expect(await read({ provider: 'azure', endpoint: server.url, api_key: 'secret' })).toEqual([
    { page: 2, lines: [{ text: 'Total', bbox: null, words: [], confidence: 0.5 }] },
    { page: 3, lines: [] },
  ]);
});

test('azure: a result on another origin is not asked for', async () => {
  const other = await serve(() => ({}));
  const server = await serve(() => ({
    status: 202,
    headers: { 'operation-location': `${other.url}/results/1` },
  }));
  await expect(read({ provider: 'azure', endpoint: server.url, api_key: 'secret' })).rejects.toThrow(
    'not on its own origin',
  );
  expect(other.requests).toEqual([]);
});

test('docling: texts and tables come in the order of reading, boxes from the bottom or the top', async () => {
  const prov = (coord_origin?: string) => [
    { page_no: 2, bbox: { l: 10, t: 90, r: 60, b: 80, coord_origin } },
  ];
  const cell = (text: string, row: number, column: number) => ({
    text,
    start_row_offset_idx: row,
    start_col_offset_idx: column,
  });
  const server = await serve(() => ({
    body: {
      status: 'success',
      document: {
        json_content: {
          pages: { 2: { size: { width: 100, height: 100 } } },
          body: { children: [{ $ref: '#/tables/0' }, { $ref: '#/groups/0' }, { $ref: '#/tables/0' }] },
          groups: [{ children: [{ $ref: '#/texts/1' }, { $ref: '#/groups/0' }] }],
          texts: [
            { text: 'footer', prov: prov('TOPLEFT') },
            { text: 'body', prov: prov('BOTTOMLEFT') },
            { text: 'nowhere', prov: [] },
          ],
          tables: [
            {
              data: { table_cells: [cell('d', 1, 1), cell('a', 0, 0), cell('c', 1, 0), cell('b', 0, 1)] },
              prov: prov(),
            },
          ],
        },
      },
    },
  }));
  const pages = await read({ provider: 'docling', url: server.url, api_key: 'k' });
  expect(pages.map(({ page, lines }) => [page, lines.map(({ text }) => text)])).toEqual([
    [2, ['a\tb', 'c\td', 'body', 'footer']],
  ]);
  expect(pages[0]!.lines[2]!.bbox).toEqual({ left: 0.1, top: 0.1, width: 0.5, height: 0.1 });
  const [request] = server.requests;
  expect([request!.url, request!.headers['x-api-key']]).toEqual(['/v1/convert/file', 'k']);
  const form = await new Response(new Uint8Array(request!.body), {
    headers: { 'content-type': request!.headers['content-type']! },
  }).formData();
  expect([form.get('to_formats'), form.getAll('page_range')]).toEqual(['json', ['2', '3']]);
  expect(Buffer.from(await (form.get('files') as File).arrayBuffer())).toEqual(document.bytes);
});

test('docling: a row of a table is where its cells are, and texts in pictures come where the picture is', async () => {
  const at = [{ page_no: 1, bbox: { l: 0, t: 100, r: 100, b: 0, coord_origin: 'BOTTOMLEFT' } }];
  const cell = (text: string, row: number, column: number) => ({
    text,
    start_row_offset_idx: row,
    start_col_offset_idx: column,
    bbox: {
      l: 10 + 40 * column,
      t: 20 + 10 * row,
      r: 40 + 40 * column,
      b: 28 + 10 * row,
      coord_origin: 'TOPLEFT',
    },
  });
  const server = await serve(() => ({
    body: {
      status: 'partial_success',
      document: {
        json_content: {
          pages: { 1: { size: { width: 100, height: 100 } } },
          body: { children: [{ $ref: '#/pictures/0' }, { $ref: '#/tables/0' }] },
          pictures: [{ children: [{ $ref: '#/texts/0' }] }],
          texts: [{ text: 'in the picture', prov: at }],
          tables: [{ data: { table_cells: [cell('a', 0, 0), cell('b', 0, 1), cell('c', 1, 0)] }, prov: at }],
        },
      },
    },
  }));
  const [page] = await read({ provider: 'docling', url: server.url });
  expect(page!.lines.map(({ text }) => text)).toEqual(['in the picture', 'a\tb', 'c']);
  const round = (box: object) => Object.values(box).map((value) => Math.round(value * 1_000) / 1_000);
  expect(page!.lines.slice(1).map(({ bbox }) => round(bbox!))).toEqual([
    [0.1, 0.2, 0.7, 0.08],
    [0.1, 0.3, 0.3, 0.08],
  ]);
});

test('docling: a conversion that is too long for one request becomes a task', async () => {
  let asked = 0;
  const server = await serve(({ method, url }) => {
    if (url === '/v1/convert/file')
      return { status: 504, body: { detail: 'Conversion is taking too long.' } };
    if (method === 'POST') return { body: { task_id: 'a-1', task_type: 'convert', task_status: 'pending' } };
    if (url.startsWith('/v1/status/poll/'))
      return { body: { task_id: 'a-1', task_status: ++asked === 1 ? 'started' : 'success' } };
    const json_content = {
      pages: { 1: { size: { width: 10, height: 10 } } },
      texts: [{ text: 'done', prov: [{ page_no: 1, bbox: { l: 0, t: 5, r: 5, b: 0 } }] }],
    };
    return { body: { status: 'success', document: { json_content } } };
  });
  const [page] = await read({ provider: 'docling', url: `${server.url}/`, api_key: 'k' });
  expect(page!.lines.map(({ text }) => text)).toEqual(['done']);
  expect(server.requests.map(({ method, url, headers }) => [method, url, headers['x-api-key']])).toEqual([
    ['POST', '/v1/convert/file', 'k'],
    ['POST', '/v1/convert/file/async', 'k'],
    ['GET', '/v1/status/poll/a-1?wait=5', 'k'],
    ['GET', '/v1/status/poll/a-1?wait=5', 'k'],
    ['GET', '/v1/result/a-1', 'k'],
  ]);
  expect(server.requests[1]!.body).toEqual(server.requests[0]!.body);
  for (const answer of [
    { task_id: '../x', task_status: 'success' },
    { task_id: 'b', task_status: 'failure' },
  ]) {
    const other = await serve(({ url }) => (url === '/v1/convert/file' ? { status: 504 } : { body: answer }));
    await expect(read({ provider: 'docling', url: other.url })).rejects.toMatchObject({
      name: 'ReaderFailure',
    });
    expect(other.requests).toHaveLength(2);
  }
});

test.each<[string, object, string]>([
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'status 302'],
  ['an error', { status: 500, body: {} }, 'status 500'],
  ['another shape', { body: { pages: [{ page: 0 }] } }, 'not as it should be at pages.0.page'],
])('%s is a failure of the reader', async (_what, answer, message) => {
  const server = await serve(() => answer);
  const result = read({ provider: 'http', url: server.url });
  await expect(result).rejects.toMatchObject({
    name: 'ReaderFailure',
    message: expect.stringContaining(message),
  });
});

test('a reader that is away is a failure, and one that is given up is not asked on', async () => {
  await expect(read({ provider: 'http', url: 'http://127.0.0.1:1/' })).rejects.toMatchObject({
    name: 'ReaderFailure',
  });
  const gone = new AbortController();
  const server = await serve(() => {
    gone.abort(new Error('cancelled'));
    return {};
  });
  await expect(read({ provider: 'http', url: server.url }, gone.signal)).rejects.toThrow('cancelled');
});
