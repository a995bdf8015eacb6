import { openPromise } from 'yauzl';
import { JobFault } from './fault.ts';

const maxEntries = 1_000;
const maxUnpackedBytes = 200 * 1024 * 1024;
const maxRatio = 100;
/** Below this size a high ratio means nothing: a small file of blanks has one too. */
const ratioCountsFromBytes = 1024 * 1024;
/** Length of the beginning of a part that shows its type, in bytes. */
const headBytes = 64;
const documentType = /<!DOCTYPE/i;

/** Finds a document type in the chunks of a part: a comment of any length may stand before it. UTF-16 counts as well. */
const documentTypeFinder = (): ((chunk: Buffer) => boolean) => {
  let end = '';
  return (chunk) => {
    const text = end + chunk.toString('latin1').replaceAll('\0', '');
    end = text.slice(-'<!DOCTYPE'.length);
    return documentType.test(text);
  };
};

/**
 * Returns whether a part is XML that a reader may parse: by its name or by how it begins. Pictures as SVG have
 * document types.
 */
const isXml = (name: string, head: Buffer): boolean =>
  /\.(?:xml|rels|vml)$/i.test(name) ||
  // Besides byte order marks, blanks and the zeros of UTF-16.
  (!/\.svg$/i.test(name) && /^[\0\s\xef\xbb\xbf\xfe\xff]*</.test(head.toString('latin1')));

const archives = /\.(?:zip|xlsx|docx|pptx|jar|gz|7z|rar|tar|bz2|xz)$/i;

/**
 * Throws if an OOXML file would unpack into too much, has archives inside, is encrypted, or has XML with a document type
 * (whose entities can grow without bound). Every entry is unpacked once, so that sizes that lie are found.
 */
export const checkZip = async (path: string): Promise<void> => {
  const unreadable = (message: string) => new JobFault('unreadable', message);
  const zip = await openPromise(path).catch(() => {
    throw unreadable('the file is not a zip archive');
  });
  if (zip.entryCount > maxEntries)
    throw new JobFault('too_large', `the file has more than ${maxEntries} parts`);
  let packed = 0;
  let unpacked = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) throw new JobFault('encrypted', 'the file is encrypted');
      if (archives.test(entry.fileName)) throw unreadable('the file has archives inside');
      packed += entry.compressedSize;
      const stream = await zip.openReadStreamPromise(entry);
      let head = Buffer.alloc(0);
      const hasDocumentType = documentTypeFinder();
      let isTyped = false;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        unpacked += chunk.length;
        if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes);
        if (isXml(entry.fileName, head)) isTyped ||= hasDocumentType(chunk);
        if (unpacked > maxUnpackedBytes) {
          throw new JobFault(
            'too_large',
            `the file unpacks to more than ${maxUnpackedBytes / 1024 / 1024} MB`,
          );
        }
        if (unpacked > ratioCountsFromBytes && unpacked > maxRatio * Math.max(packed, 1)) {
          throw new JobFault('too_large', `the file unpacks to more than ${maxRatio} times its size`);
        }
      }
      if (/^PK\x03\x04/.test(head.toString('latin1', 0, 4))) throw unreadable('the file has archives inside');
      if (isTyped) throw unreadable('a document type is not allowed');
    }
  } catch (error) {
    throw error instanceof JobFault ? error : unreadable('the file is damaged');
  } finally {
    zip.close();
  }
};
