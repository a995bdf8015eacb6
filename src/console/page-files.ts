/** What one page loads besides index.html's scripts and styles. */
export interface PageFiles {
  /** `/agents/$agentId` */
  path: string;
  /** Scripts and styles, `/assets/….js`. */
  files: string[];
  /** The operation that the page depends on: who may not call it does not see the page. */
  operation?: string;
  /** What it reads first, if its address has no query: `/api/v2/agents/$agentId`. */
  reads?: string[];
}

const fileTag = (file: string): string =>
  file.endsWith('.css')
    ? `<link rel="stylesheet" crossorigin href="${file}">`
    : `<link rel="modulepreload" crossorigin href="${file}">`;

const readTag = (address: string): string =>
  `<link rel="preload" as="fetch" crossorigin href="${address.replaceAll('&', '&amp;')}">`;

const isParameter = (segment: string): boolean => segment.startsWith('$');

/** Counts the parameters of a path, which make it less specific: `/agents/new` is found before `/agents/$agentId`. */
const parametersOf = (path: string): number => path.split('/').filter(isParameter).length;

/** Ids, which are the same in every address. What else is in a path would be written in another way. */
const isPlain = (segment: string): boolean => /^[\w-]+$/.test(segment);

/** Returns the addresses with the parameters of a path in them; none if one is not plain. */
const withParameters = (reads: readonly string[], pattern: string[], segments: string[]): string[] => {
  const values = new Map(pattern.flatMap((name, i) => (isParameter(name) ? [[name, segments[i]!]] : [])));
  if (![...values.values()].every(isPlain)) return [];
  return reads.map((address) => address.replace(/\$\w+/g, (name) => values.get(name) ?? name));
};

/** A page that is asked for. */
export interface Asked {
  path: string;
  /** Its address has a query, from which other first reads follow. */
  hasQuery: boolean;
  /** What the caller may do. */
  operations: readonly string[];
}

/**
 * Returns a function that returns the tags which load the files of the page at a path, and what it reads first: none for
 * a path without a page. Without them a browser learns of these when it has run the first scripts, which is one round
 * trip and hundreds of milliseconds later on a slow device.
 */
export const pageTags = (pages: readonly PageFiles[]): ((asked: Asked) => string) => {
  const known = pages
    .toSorted((a, b) => parametersOf(a.path) - parametersOf(b.path))
    .map(({ path, files, operation = '', reads = [] }) => ({
      pattern: path.split('/'),
      tags: files.map(fileTag).join(''),
      operation,
      reads,
    }));
  return ({ path, hasQuery, operations }) => {
    const segments = (path === '/' ? path : path.replace(/\/+$/, '')).split('/');
    const page = known.find(
      ({ pattern }) =>
        pattern.length === segments.length &&
        pattern.every((segment, i) => (isParameter(segment) ? segments[i] !== '' : segment === segments[i])),
    );
    if (!page) return '';
    // A refusal would be in the audit log.
    const reads = hasQuery || !operations.includes(page.operation) ? [] : page.reads;
    return withParameters(reads, page.pattern, segments).map(readTag).join('') + page.tags;
  };
};
