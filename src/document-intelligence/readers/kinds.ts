import type { DocumentType } from '../../sandbox/index.ts';

export type DocumentKind = DocumentType | 'picture';

const office = 'application/vnd.openxmlformats-officedocument';
const kinds: Record<string, DocumentKind> = {
  'application/pdf': 'pdf',
  'image/png': 'picture',
  'image/jpeg': 'picture',
  'image/webp': 'picture',
  'image/tiff': 'picture',
  [`${office}.wordprocessingml.document`]: 'docx',
  [`${office}.spreadsheetml.sheet`]: 'xlsx',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/markdown': 'text',
  'text/plain': 'text',
  'application/json': 'text',
  'application/x-ndjson': 'text',
};

/** Extensions of compound files that may be Office files with a password, which the reader reports. */
const compoundNames: Record<string, DocumentKind> = { docx: 'docx', xlsx: 'xlsx', doc: 'docx', xls: 'xlsx' };

/**
 * Returns the kind of a file, by its type and the extension of its name: HTML has no type of its own, because browsers
 * would run it. Null: it cannot be read.
 */
export const kindOf = (contentType: string, name: string): DocumentKind | null => {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  if (extension === 'html' || extension === 'htm') {
    return /^(?:text\/|application\/octet-stream$)/.test(contentType) ? 'html' : (kinds[contentType] ?? null);
  }
  if (contentType === 'application/octet-stream') return compoundNames[extension] ?? null;
  return kinds[contentType] ?? null;
};
