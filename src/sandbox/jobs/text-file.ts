import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { JobFault } from './fault.ts';

/** The text of the file `source`, without a byte order mark. Throws JobFault if it is not UTF-8. */
export const readTextFile = (source: string): string => {
  const bytes = readFileSync(source);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new JobFault('unreadable', 'the file is not text in UTF-8');
  }
};

/** Returns whether the file begins with a byte order mark. */
export const beginsWithMark = (source: string): boolean => {
  const file = openSync(source, 'r');
  const bytes = Buffer.alloc(3);
  readSync(file, bytes);
  closeSync(file);
  return bytes.equals(Buffer.from([0xef, 0xbb, 0xbf]));
};
