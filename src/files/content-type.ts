import { type FileHandle, open } from 'node:fs/promises';
import { openPromise } from 'yauzl';
import { extensionOf } from './names.ts';

/** The first bytes of a file of each type, as Latin-1; `.` is any byte. */
const signatures: [RegExp, string][] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^(?:II\*\0|MM\0\*)/, 'image/tiff'],
  [/^\x1f\x8b/, 'application/gzip'],
];

const office = 'application/vnd.openxmlformats-officedocument';
/** The main part of an OOXML file, by which `[Content_Types].xml` tells what the file is. */
const mainParts: [string, string][] = [
  ['spreadsheetml.sheet.main+xml', `${office}.spreadsheetml.sheet`],
  ['wordprocessingml.document.main+xml', `${office}.wordprocessingml.document`],
  ['presentationml.presentation.main+xml', `${office}.presentationml.presentation`],
];

/** Text is what its extension says. Whatever a browser could run (HTML, SVG, XML) is none of these. */
const textTypes: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  md: 'text/markdown',
  txt: 'text/plain',
};

const unknown = 'application/octet-stream';
/** Bytes of `[Content_Types].xml` that are unpacked: the only part of a file that is, outside the sandbox. */
const maxTypesBytes = 1024 * 1024;

/** The type of a file, from its bytes; for text in UTF-8 from its name. */
export const contentTypeOf = async (path: string, name: string): Promise<string> => {
  await using file = await open(path);
  const head = await readAt(file, 0, 16);
  const known = signatures.find(([signature]) => signature.test(head));
  if (known) return known[1];
  if (head.startsWith('PAR1')) {
    const { size } = await file.stat();
    if (size >= 12 && (await readAt(file, size - 4, 4)) === 'PAR1') return 'application/vnd.apache.parquet';
  }
  if (head.startsWith('PK\x03\x04')) return zipType(path);
  const type = textTypes[extensionOf(name)];
  return type && (await isText(file)) ? type : unknown;
};

const readAt = async (file: FileHandle, position: number, length: number): Promise<string> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
};

const zipType = async (path: string): Promise<string> => {
  const types = await readContentTypes(path).catch(() => '');
  return mainParts.find(([part]) => types.includes(part))?.[1] ?? 'application/zip';
};

const readContentTypes = async (path: string): Promise<string> => {
  const zip = await openPromise(path, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== '[Content_Types].xml') continue;
      const stream = await zip.openReadStreamPromise(entry);
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxTypesBytes) return '';
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString('utf8');
    }
    return '';
  } finally {
    zip.close();
  }
};

/** Text is UTF-8 without NUL. */
const isText = async (file: FileHandle): Promise<boolean> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of file.createReadStream({
      start: 0,
      autoClose: false,
    }) as AsyncIterable<Buffer>) {
      if (chunk.includes(0)) return false;
      decoder.decode(chunk, { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
};
