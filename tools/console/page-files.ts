import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file in Vite's manifest; `imports` are keys of others. */
interface Built {
  file: string;
  css?: string[];
  imports?: string[];
}

/** A page as its folder declares it, with the module that has its component. */
const pageOf = /page\(\{\s*path: '([^']+)',[\s\S]*?component: \[\(\) => import\('\.\/([^']+)'\)/g;

/** The pages of the features by their paths. Throws if one is written in another way than the rest. */
const readPages = (features: string): { path: string; module: string }[] =>
  readdirSync(features).flatMap((folder) => {
    const file = join(features, folder, 'routes.ts');
    if (!existsSync(file)) return [];
    const text = readFileSync(file, 'utf8');
    const pages = [...text.matchAll(pageOf)].map(([, path, module]) => ({
      path: path!,
      module: `features/${folder}/${module}`,
    }));
    const declared = text.split('page({').length - 1;
    if (pages.length !== declared)
      throw new Error(`${file} has ${declared} pages, of which ${pages.length} can be read.`);
    return pages;
  });

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
  const pages = readPages(join(root, 'console', 'src', 'features')).map(({ path, module }) => ({
    path,
    files: [...new Set(filesOf(`src/${module}`))]
      .filter((file) => !initial.has(file))
      .map((file) => `/${file}`),
  }));
  writeFileSync(join(outDir, '.vite', 'pages.json'), JSON.stringify(pages));
};
