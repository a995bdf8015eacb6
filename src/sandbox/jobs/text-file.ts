import { readFileSync } from 'node:fs';
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
