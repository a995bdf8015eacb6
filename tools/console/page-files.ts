import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A file in Vite's manifest; `imports` are keys of others. */
interface Built {
  file: string;
  css?: string[];
  imports?: string[];
}

/** What is used here of a page of `console/src/routing/page.ts`. */
interface Page {
  options: {
    path: string;
    validateSearch: (raw: object) => object;
    staticData?: {
      operation?: string;
      first?: (address: { params: object; search: object }) => [operation: string, address: string][];
    };
  };
}

/** A page as its folder declares it, with the module that has its component. */
const pageOf = /page\(\{\s*path: '([^']+)',[\s\S]*?component: \[\(\) => import\('\.\/([^']+)'\)/g;

/** The pages of a folder, and the modules of their components. Throws if one is written in another way than the rest. */
const readPages = async (features: string, folder: string): Promise<{ page: Page; module: string }[]> => {
  const file = join(features, folder, 'routes.ts');
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  const modules = new Map([...text.matchAll(pageOf)].map(([, path, module]) => [path!, module!]));
  const declared = text.split('page({').length - 1;
  if (modules.size !== declared)
    throw new Error(`${file} has ${declared} pages, of which ${modules.size} can be read.`);
  if (declared === 0) return [];
  const exported: Record<string, unknown> = await import(pathToFileURL(file).href);
  const pages = Object.values(exported).flat() as Page[];
  return pages.flatMap((page) => {
    const module = modules.get(page.options.path);
    return module === undefined ? [] : [{ page, module: `src/features/${folder}/${module}` }];
  });
};

/** The addresses of what a page reads first without a query in its own, with the parameters as its path names them. */
const firstReads = ({ options: { path, validateSearch, staticData } }: Page): string[] => {
  const names = path.split('/').filter((segment) => segment.startsWith('$'));
  const params = Object.fromEntries(names.map((name) => [name.slice(1), name]));
  const reads = staticData?.first?.({ params, search: validateSearch({}) }) ?? [];
  return reads.map(([, address]) => address.replaceAll('%24', '$'));
};

/**
 * Writes `.vite/pages.json`: the scripts and styles of each page that index.html does not load anyway, and what it reads
 * first from the API. The platform names them in the page that it sends, so that they are on their way before the first
 * script runs.
 */
export const writePageFiles = async (root: string, outDir: string): Promise<void> => {
  const manifest = JSON.parse(readFileSync(join(outDir, '.vite', 'manifest.json'), 'utf8')) as Record<
    string,
    Built
  >;
  const filesOf = (key: string, seen = new Set<string>()): string[] => {
    if (seen.has(key)) return [];
    seen.add(key);
    const { file, css = [], imports = [] } = manifest[key]!;
    return [file, ...css, ...imports.flatMap((one) => filesOf(one, seen))];
  };
  const initial = new Set(filesOf('index.html'));
  const features = join(root, 'console', 'src', 'features');
  const pages = await Promise.all(readdirSync(features).map((folder) => readPages(features, folder)));
  const written = pages.flat().map(({ page, module }) => ({
    path: page.options.path,
    files: [...new Set(filesOf(module))].filter((file) => !initial.has(file)).map((file) => `/${file}`),
    operation: page.options.staticData?.operation,
    reads: firstReads(page),
  }));
  writeFileSync(join(outDir, '.vite', 'pages.json'), JSON.stringify(written));
};
