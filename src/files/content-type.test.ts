import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { xlsx, zip } from '../../tests/harness/zip.ts';
import { contentTypeOf } from './content-type.ts';

const typeOf = async (name: string, content: string | Buffer) => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-type-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'x'), content, 'latin1');
  return contentTypeOf(join(folder, 'x'), name);
};
const office = 'application/vnd.openxmlformats-officedocument';
const typesOf = (type: string) =>
  zip([{ name: '[Content_Types].xml', content: `<Types><Override ContentType="${type}"/></Types>` }]);

test.each<[string, string, () => string | Buffer]>([
  ['application/pdf', 'a.txt', () => '%PDF-1.7\n'],
  ['image/png', 'a.pdf', () => '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 'a', () => '\xff\xd8\xff\xe0'],
  ['image/gif', 'a', () => 'GIF89a'],
  ['image/webp', 'a', () => 'RIFF....WEBPVP8 '],
  ['image/tiff', 'a', () => 'II*\0'],
  ['application/gzip', 'a.csv', () => '\x1f\x8b\x08'],
  ['application/vnd.apache.parquet', 'a', () => 'PAR1 some bytes PAR1'],
  ['application/octet-stream', 'a', () => 'PAR1 some bytes'],
  [`${office}.spreadsheetml.sheet`, 'a.zip', () => xlsx({ A: [['a']] })],
  [`${office}.wordprocessingml.document`, 'a', () => typesOf(`${office}.wordprocessingml.document.main+xml`)],
  ['application/zip', 'a.xlsx', () => zip([{ name: 'a', content: 'b' }])],
  [
    'application/zip',
    'a.docx',
    () =>
      zip([
        {
          name: '[Content_Types].xml',
          content: `${' '.repeat(1_100_000)}wordprocessingml.document.main+xml`,
        },
      ]),
  ],
  ['application/zip', 'a.xlsx', () => 'PK\x03\x04 broken'],
  ['text/csv', 'A.CSV', () => 'a,b'],
  ['text/tab-separated-values', 'a.tsv', () => 'a'],
  ['application/json', 'a.json', () => '{}'],
  ['application/x-ndjson', 'a.ndjson', () => '{}'],
  ['text/markdown', 'a.md', () => '# a'],
  ['text/plain', 'a.txt', () => '<html>'],
  ['application/octet-stream', 'a.csv', () => '\xff\xfe'],
  ['application/octet-stream', 'a.csv', () => 'a\0b'],
  ['application/octet-stream', 'a.html', () => '<html>'],
  ['application/octet-stream', 'a.svg', () => '<svg xmlns="http://www.w3.org/2000/svg"/>'],
])('%s for %s', async (type, name, content) => {
  expect(await typeOf(name, content())).toBe(type);
});
