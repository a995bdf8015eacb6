import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docx, pdf, scan, scannedPdf, textPdf, tiff } from '../../tests/harness/documents.ts';
import { testServices } from '../../tests/harness/services.ts';
import { xlsx, zip } from '../../tests/harness/zip.ts';
import { readConfig } from '../config.ts';
import { offlineDatabase } from '../database/index.ts';
import { createSandbox, type Page } from './index.ts';
import type { Jobs } from './jobs.ts';

let folder: string;
let sandbox: ReturnType<typeof createSandbox>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-documents-'));
  sandbox = createSandbox(testServices(offlineDatabase, { config: readConfig({ DATA_DIR: folder }) }));
});
afterAll(async () => {
  await sandbox.stop?.();
  expect(await readdir(join(folder, 'sandbox'))).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

const filesOf = (content: string | Buffer) => ({
  source: (async function* () {
    yield Buffer.from(content as string);
  })(),
});
type Input = Jobs['documentRead']['input'];
const read = (content: string | Buffer, type: Input['type'], input: Partial<Input> = {}) =>
  sandbox.run(
    'documentRead',
    { type, ranges: null, maxPages: 100, maxCharacters: 1e6, ...input },
    { files: filesOf(content), limits: { seconds: 60 } },
  );
const textOf = ({ lines }: Page) => lines.map(({ text }) => text);

test('a PDF is read line by line, with the boxes of its words and its form fields', async () => {
  const { pages, total, asked, without_text } = await read(
    pdf([
      {
        texts: [
          { x: 60, y: 80, text: 'Invoice' },
          { x: 104, y: 80, text: 'number INV-7' },
          { x: 300, y: 80, text: '1' },
          { x: 330, y: 80, text: '234,50' },
          { x: 60, y: 120, text: 'Total: 1.234,75 EUR' },
        ],
        fields: [
          { name: 'Buyer', value: 'Acme (UK)' },
          { name: 'Paid', value: true },
          { name: 'Late', value: false },
        ],
      },
      {},
    ]),
    'pdf',
  );
  expect({ total, asked, without_text }).toEqual({ total: 2, asked: [1, 2], without_text: [2] });
  expect(textOf(pages[0]!)).toEqual([
    'Invoice number INV-7\t1\t234,50',
    'Total: 1.234,75 EUR',
    'Buyer: Acme (UK)',
    'Paid: Yes',
    'Late: No',
  ]);
  const [first, , field] = pages[0]!.lines;
  const [, , number, , last] = first!.words!;
  expect(first!.text.slice(number!.start, number!.end)).toBe('INV-7');
  expect(number!.bbox.left).toBeGreaterThan(120 / 600);
  expect(last!.bbox.left + last!.bbox.width).toBeCloseTo(first!.bbox!.left + first!.bbox!.width, 5);
  expect(first!.bbox!.left).toBeCloseTo(0.1, 3);
  // The foot of the text is 80 of 800 points below the top.
  expect(first!.bbox!.top).toBeLessThan(0.1);
  expect(first!.bbox!.top + first!.bbox!.height).toBeGreaterThan(0.1);
  expect(field!.bbox).toEqual({ left: 100 / 600, top: 0.1, width: 100 / 600, height: 0.025 });
});

test('boxes are those of the page as it is shown, also if it is turned', async () => {
  const { pages } = await read(pdf([{ texts: [{ x: 60, y: 80, text: 'Turned' }], rotate: 90 }]), 'pdf');
  const [{ text, bbox }] = pages[0]!.lines as [Page['lines'][0]];
  expect(text).toBe('Turned');
  // A quarter clockwise: what was at the top is at the right.
  expect(bbox!.left).toBeGreaterThan(0.85);
  expect(bbox!.top).toBeCloseTo(0.1, 2);
  expect(bbox!.height).toBeGreaterThan(bbox!.width);
});

test('the pages asked for are read, and no more than are allowed', async () => {
  const document = textPdf(['one'], ['two'], ['three'], ['four']);
  const { pages, total } = await read(document, 'pdf', {
    ranges: [
      [2, 2],
      [4, 9],
    ],
  });
  expect([total, pages.map(textOf)]).toEqual([4, [['two'], ['four']]]);
  await expect(read(document, 'pdf', { maxPages: 3 })).rejects.toMatchObject({ reason: 'too_many_pages' });
  const counted = await read(document, 'pdf', { countOnly: true });
  expect([counted.total, counted.pages]).toEqual([4, []]);
});

test('a PDF that claims pages it does not have is unreadable', async () => {
  const whole = textPdf(['Total: 5']).toString('latin1');
  // Fewer pages than none, and a tree of pages that leads to itself. All else stays where it was.
  const negative = whole.replace('/Count 1 >>', '/Count -7>>');
  const loop = whole.replace(/\/Kids \[\d 0 R/, '/Kids [2 0 R');
  for (const [text, message] of [
    [negative, 'the PDF has no pages'],
    [loop, 'the PDF does not have its pages'],
  ] as const) {
    expect(text).not.toBe(whole);
    const found = read(Buffer.from(text, 'latin1'), 'pdf');
    await expect(found).rejects.toMatchObject({ reason: 'unreadable', message });
  }
});

test('reading ends at the limit of characters', async () => {
  const { pages, cut } = await read('abc\ndef😀\nghi', 'text', { maxCharacters: 8 });
  expect([textOf(pages[0]!), cut]).toEqual([['abc', 'def'], true]);
});

test('a DOCX is read block by block, without what it embeds', async () => {
  const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  const body = `${paragraph('Total &amp; &lt;sum&gt;')}<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr></w:tbl>${paragraph(' ')}`;
  const { pages, total } = await read(docx(body), 'docx');
  expect([total, pages[0]!.page, textOf(pages[0]!)]).toEqual([1, 1, ['Total & <sum>', 'a', 'b']]);
});

test('the sheets of an XLSX are pages, and rows are lines', async () => {
  const { pages, total } = await read(
    xlsx({
      One: [
        ['Name', 'Born'],
        ['Ada', { day: 45_000 }],
        [null, 1.5, true, { error: '#DIV/0!' }],
      ],
      Two: [['x']],
    }),
    'xlsx',
  );
  expect([total, pages.map(textOf)]).toEqual([2, [['Name\tBorn', 'Ada\t2023-03-15', '\t1.5\ttrue'], ['x']]]);
});

test('text is read line by line, HTML as a reader sees it', async () => {
  const { pages: csv } = await read('\ufeffa;b\r\n1;2,5\r\n', 'csv');
  expect([textOf(csv[0]!), csv[0]!.separator]).toEqual([['a;b', '1;2,5'], ';']);
  const { pages } = await read(
    `<!doctype html><html><head><title>T</title><style>p{}</style></head><body onload="a>b">
     <h1>Caf&eacute; &amp; <b>Bar</b></h1><!-- <p>no</p> --><script>if (a < b) "<p>no</p>"</script>
     <p>1 &lt; 2 &#8364;&#x20AC;&unknown; <br>next</p><table><tr><td>a</td><td>b</td></tr></table>a < b<style>`,
    'html',
  );
  expect(textOf(pages[0]!)).toEqual(['Café & Bar', '1 < 2 €€&unknown;', 'next', 'a\tb', 'a < b']);
});

test.each<[string, () => string | Buffer, Input['type'], string]>([
  ['PDF with a password', () => pdf([{}], { encrypted: true }), 'pdf', 'encrypted'],
  ['PDF that is none', () => '%PDF-1.7\nnothing', 'pdf', 'unreadable'],
  ['DOCX that is no zip', () => 'PK\x03\x04', 'docx', 'unreadable'],
  ['DOCX without a document', () => zip([{ name: 'a', content: 'b' }]), 'docx', 'unreadable'],
  [
    'DOCX with a document type',
    () => zip([{ name: 'word/document.xml', content: '<!DOCTYPE x><x/>' }]),
    'docx',
    'unreadable',
  ],
  [
    'file with a password',
    () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
    'docx',
    'encrypted',
  ],
  ['text that is not UTF-8', () => Buffer.from([0x61, 0xff]), 'text', 'unreadable'],
])('a %s is refused', async (_what, content, type, reason) => {
  await expect(read(content(), type)).rejects.toMatchObject({ reason });
});

test('hostile markup is read in time', async () => {
  // Those that are never closed come last: they take the rest.
  const parts = ['<head></head>', '<td>x', '<svg></svg>', '&#', '<', '<script>', '<!--', '<a ="'];
  const { pages } = await read(parts.map((part) => part.repeat(100_000)).join(''), 'html', {
    maxCharacters: 10,
  });
  expect(pages).toHaveLength(1);
});

const ocr = (content: Buffer) =>
  sandbox.run('pictureOcr', { languages: ['eng'] }, { files: filesOf(content), limits: { seconds: 60 } });

test.each(['image/png', 'image/jpeg', 'image/webp'] as const)(
  'OCR reads %s with words, boxes and how sure it is',
  async (type) => {
    const { page, pictures } = await ocr(scan(['Invoice INV-2041', 'Total 99.50'], type).bytes);
    expect([textOf(page), pictures]).toEqual([['Invoice INV-2041', 'Total 99.50'], 1]);
    const [line] = page.lines;
    expect(line!.confidence).toBeGreaterThan(0.7);
    expect(line!.words!.map(({ start, end }) => line!.text.slice(start, end))).toEqual([
      'Invoice',
      'INV-2041',
    ]);
    expect(line!.bbox!.left).toBeCloseTo(80 / 900, 1);
    expect(line!.bbox!.top).toBeCloseTo(100 / 1200, 1);
  },
);

test('OCR reads the first picture of a TIFF and counts the others', async () => {
  expect(await ocr(tiff(3))).toEqual({ page: { page: 1, aspect: 1, lines: [] }, pictures: 3 });
});

test('a picture that is damaged, or too large by its header, is unreadable', async () => {
  const { bytes } = scan(['x']);
  await expect(ocr(bytes.subarray(0, 60))).rejects.toMatchObject({ reason: 'unreadable' });
  bytes.writeUInt32BE(20_000, 16);
  bytes.writeUInt32BE(20_000, 20);
  await expect(ocr(bytes)).rejects.toMatchObject({ reason: 'unreadable' });
});

test('pages of a PDF without text are rendered and read', async () => {
  const document = scannedPdf(['First page'], ['Order 4711']);
  const { without_text } = await read(document, 'pdf');
  expect(without_text).toEqual([1, 2]);
  const pages = await sandbox.run(
    'scanOcr',
    { languages: ['eng'], pages: [2] },
    { files: filesOf(document), limits: { seconds: 60 } },
  );
  expect(pages.map(({ page, lines }) => [page, lines.map(({ text }) => text)])).toEqual([
    [2, ['Order 4711']],
  ]);
});
