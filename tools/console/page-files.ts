import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file in Vite's manifest; `imports` are keys of others. */
interface Built {
  file: string;
  css?: string[];
  imports?: string[];
}

/** A page of the router, with the module that has its component. */
const pageOf = /page\(\s*'([^']+)',\s*lazyRouteComponent\(\s*\(\) => import\('\.\.\/([^']+)'\)/g;
/** Sign-in, which is outside the frame. */
const others = 1;

/** The pages of router.tsx by their paths. Throws if one is written in another way than the rest. */
const readPages = (router: string): { path: string; module: string }[] => {
  const pages = [...router.matchAll(pageOf)].map(([, path, module]) => ({ path: path!, module: module! }));
  const imported = router.split("import('../features/").length - 1;
  if (pages.length + others !== imported) {
    throw new Error(`router.tsx imports ${imported} pages, of which ${pages.length} can be read.`);
  }
  return pages;
};

/**
 * Writes `.vite/pages.json`: the scripts and styles of each page that index.html does not load anyway. The platform
 * names them in the page that it sends, so that they are on their way before the first script runs.
 */
export const writePageFiles = (root: string, outDir: string): void => {
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
  const router = readFileSync(join(root, 'console', 'src', 'app', 'router.tsx'), 'utf8');
  const pages = readPages(router).map(({ path, module }) => ({
    path,
    files: [...new Set(filesOf(`src/${module}`))]
      .filter((file) => !initial.has(file))
      .map((file) => `/${file}`),
  }));
  writeFileSync(join(outDir, '.vite', 'pages.json'), JSON.stringify(pages));
};
