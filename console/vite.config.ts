import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

interface Document {
  paths: Record<string, Record<string, { operationId?: string; 'x-required-role'?: string }>>;
}

const schemeScript = fileURLToPath(new URL('./src/app/scheme.js', import.meta.url));

/**
 * Adds to index.html the script that sets the color scheme before the first paint, and the preload of the typeface.
 * Both have hashed names, like everything under `/assets`.
 */
const head = (): Plugin => {
  let scheme: string;
  return {
    name: 'console-head',
    apply: 'build',
    buildStart() {
      scheme = this.emitFile({ type: 'asset', name: 'scheme.js', source: readFileSync(schemeScript) });
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) => {
        const files = Object.values(bundle ?? {});
        const named = (name: string) =>
          files.find((file) => file.type === 'asset' && file.names.includes(name))?.fileName;
        const font = named('geist-latin-wght-normal.woff2');
        const script = named('scheme.js');
        if (!font || !script || !scheme) throw new Error('The typeface or scheme.js is not in the build.');
        return [
          { tag: 'script', attrs: { src: `/${script}` }, injectTo: 'head-prepend' },
          {
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${font}` },
            injectTo: 'head-prepend',
          },
        ];
      },
    },
  };
};

/**
 * The module `virtual:operations`: the lowest role of each operation, from the committed OpenAPI documents. The console
 * says with it which role a page or a button needs.
 */
const operations = (): Plugin => ({
  name: 'console-operations',
  resolveId: (id) => (id === 'virtual:operations' ? '\0virtual:operations' : undefined),
  load(id) {
    if (id !== '\0virtual:operations') return undefined;
    const roles: Record<string, string> = {};
    for (const name of ['openapi.json', 'openapi-app.json']) {
      const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
      this.addWatchFile(file);
      const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
      for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
        if (operation.operationId) roles[operation.operationId] = operation['x-required-role'] ?? 'anyone';
      }
    }
    return `export const operationRoles = ${JSON.stringify(roles)};`;
  },
});

const cssVariables =
  /@mantine\/core\/esm\/core\/MantineProvider\/MantineCssVariables\/MantineCssVariables\.mjs$/;

/**
 * Leaves out what computes Mantine's CSS variables. It does so while it is loaded, for 30 ms on a slow device, also with
 * `withCssVariables={false}`: ours are in tokens.css and mantine.css.
 */
const withoutCssVariables = (): Plugin => {
  let found = false;
  return {
    name: 'console-without-css-variables',
    apply: 'build',
    load(id) {
      if (!cssVariables.test(id)) return undefined;
      found = true;
      return 'export const MantineCssVariables = () => null;';
    },
    buildEnd(error) {
      if (!error && !found) throw new Error('Mantine has its CSS variables in another file: vite.config.ts');
    },
  };
};

/** Components that only lists with filters and some forms use. */
const selects =
  /@mantine\/core\/[^?]*components\/(Combobox|Select|MultiSelect|Pill|PillsInput)\/|console\/src\/ui\/(Select|FilterBar)|console\/src\/resource\/AgentSelect/;
/** What some pages use, but not the Overview. */
const others = /console\/src\/(ui\/(JsonView|RowsGrid|RowsTable|SecretMap)|api\/event-stream)\./;
/** What the frame and nearly every page use. */
const kit =
  /^\0|node_modules|console\/src\/(ui|api|time|app)\/|console\/src\/resource\/(?!ListPage|AgentSelect)|console\/src\/text\/([^/]+$|en\/(ui|common|states|pages|outcomes|time|shell)\.)|console\/src\/features\/[^/]+\/(search|types)\.ts$/;

/**
 * What pages share is three files, not forty. `tests/browser/budgets.test.ts` has the limits. What one page alone uses,
 * and words of a feature, go where they are used. The kit comes first and takes what it imports with it: files that
 * import each other in a circle would run in the wrong order.
 */
const sharedFiles = [
  {
    name: 'kit',
    test: (id: string) => kit.test(id) && !selects.test(id) && !others.test(id),
    minShareCount: 2,
    priority: 2,
  },
  { name: 'selects', test: selects, priority: 1 },
  { name: 'others', test: others, minShareCount: 2, priority: 1 },
];

/**
 * Builds to `console/dist`. The development server passes requests of the API on to a platform on port 8080.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), head(), operations(), withoutCssVariables()],
  build: {
    manifest: true,
    // The texts of the packages that are built in.
    license: { fileName: 'licenses.md' },
    // No data: addresses; the policy forbids them for fonts.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // The entry is in index.html. Firefox reports an error for a preload of it: it is loaded already.
      resolveDependencies: (_file, dependencies) =>
        dependencies.filter((file) => !/^assets\/index-[^/]+\.js$/.test(file)),
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: { codeSplitting: { groups: sharedFiles } },
      treeshake: {
        // A page that imports `ui/index.ts` loads the components that it uses, and the styles of those.
        moduleSideEffects: [
          { test: /\/console\/src\/(ui|api|time|text|resource)\/[^?]*\.tsx?$/, sideEffects: false },
        ],
      },
    },
  },
  server: { proxy: { '^/(app/api|api|healthz|readyz|metrics)': 'http://127.0.0.1:8080' } },
});
