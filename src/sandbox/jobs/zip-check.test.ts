import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { xlsxParts, zip } from '../../../tests/harness/zip.ts';
import { checkZip } from './zip-check.ts';

const check = async (bytes: Buffer) => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-zip-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'a.zip'), bytes);
  return checkZip(join(folder, 'a.zip'));
};
const parts = xlsxParts({ One: [['a'], [1]] });
const xml = (content: string) => zip([{ name: 'xl/worksheets/sheet1.xml', content }]);
/** A zip whose directory says that its one part, of 1 byte, has fewer bytes than it unpacks to. */
const lying = () => {
  const bytes = zip([{ name: 'a.xml', content: 'x'.repeat(100_000) }]);
  bytes.writeUInt32LE(1, bytes.lastIndexOf('PK\x01\x02') + 24);
  return bytes;
};

const noise = (length: number): string => randomBytes(length / 2).toString('hex');

test('a spreadsheet passes', async () => {
  await expect(check(zip(parts))).resolves.toBeUndefined();
  const svg = '<?xml version="1.0"?><!DOCTYPE svg><svg/>';
  await expect(
    check(zip([...parts, { name: 'xl/media/image1.svg', content: svg }])),
  ).resolves.toBeUndefined();
});

test.each<[string, () => Buffer, string]>([
  ['that unpacks to 100 times its size', () => xml(' '.repeat(2_000_000)), 'too_large'],
  [
    'with too many parts',
    () => zip(Array.from({ length: 1_001 }, (_, i) => ({ name: `${i}`, content: '' }))),
    'too_large',
  ],
  ['with an archive inside', () => zip([...parts, { name: 'a.bin', content: zip(parts) }]), 'unreadable'],
  ['with an archive by its name', () => zip([...parts, { name: 'a.gz', content: 'x' }]), 'unreadable'],
  ['with a document type', () => xml('<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'), 'unreadable'],
  [
    'with a document type in UTF-16',
    () => zip([{ name: 'a.xml', content: Buffer.from('\ufeff<!DOCTYPE x><x/>', 'utf16le') }]),
    'unreadable',
  ],
  [
    'with a document type after a long comment',
    () => xml(`<?xml version="1.0"?><!--${noise(200_000)}--><!DOCTYPE x><x/>`),
    'unreadable',
  ],
  [
    'with a document type in a part of another name',
    () => zip([{ name: 'xl/book', content: '\ufeff <!DOCTYPE x><x/>' }]),
    'unreadable',
  ],
  ['with an encrypted part', () => zip([{ name: 'x', content: 'x', encrypted: true }]), 'encrypted'],
  ['that lies about its size', lying, 'unreadable'],
  ['that is cut', () => zip(parts).subarray(0, 500), 'unreadable'],
])('a file %s is refused', async (_what, bytes, reason) => {
  await expect(check(bytes())).rejects.toMatchObject({ reason });
});
