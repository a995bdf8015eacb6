/** The scripts and styles that one page loads besides index.html's: `/agents/$agentId` and `/assets/….js`. */
export interface PageFiles {
  path: string;
  files: string[];
}

const tagOf = (file: string): string =>
  file.endsWith('.css')
    ? `<link rel="stylesheet" crossorigin href="${file}">`
    : `<link rel="modulepreload" crossorigin href="${file}">`;

const isParameter = (segment: string): boolean => segment.startsWith('$');

/** Counts the parameters of a path, which make it less specific: `/agents/new` is found before `/agents/$agentId`. */
const parametersOf = (path: string): number => path.split('/').filter(isParameter).length;

/**
 * Returns a function that returns the tags which load the files of the page at a path: none for a path without a page.
 * Without them a browser learns of these files when it has run the first scripts, which is one round trip later.
 */
export const pageTags = (pages: readonly PageFiles[]): ((path: string) => string) => {
  const known = pages
    .toSorted((a, b) => parametersOf(a.path) - parametersOf(b.path))
    .map(({ path, files }) => ({ segments: path.split('/'), tags: files.map(tagOf).join('') }));
  return (path) => {
    const segments = (path === '/' ? path : path.replace(/\/+$/, '')).split('/');
    const page = known.find(
      (one) =>
        one.segments.length === segments.length &&
        one.segments.every((segment, i) =>
          isParameter(segment) ? segments[i] !== '' : segment === segments[i],
        ),
    );
    return page?.tags ?? '';
  };
};
