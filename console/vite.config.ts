import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';
import { head } from './vite.head.ts';

const source = fileURLToPath(new URL('./src', import.meta.url));

/**
 * Leaves out of the table of operations (`api/operations.gen.ts`) those that no literal in the source names: half of the
 * API has no page.
 */
const usedOperations = (): Plugin => {
  const used = new Set<string>();
  return {
    name: 'console-used-operations',
    enforce: 'pre',
    apply: 'build',
    buildStart() {
      for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
        if (!/\.tsx?$/.test(file) || /\.gen\.ts$|\.test\.ts$/.test(file)) continue;
        const text = readFileSync(join(source, file), 'utf8');
        for (const [, name] of text.matchAll(/['"]([a-z]\w+)['"]/g)) used.add(name!);
      }
    },
    transform(code, id) {
      if (!id.endsWith('/operations.gen.ts')) return undefined;
      return code.replace(/^ {2}(\w+): \[.*\],\n/gm, (row, name: string) => (used.has(name) ? row : ''));
    },
  };
};

/** The development server has the approval page at its addresses, as the platform does. */
const approvalPage = (): Plugin => ({
  name: 'console-approval-page',
  apply: 'serve',
  configureServer: ({ middlewares }) => {
    middlewares.use((request, _response, next) => {
      if (/^\/approve\/[^/?]+\/?(\?|$)/.test(request.url ?? '')) request.url = '/approve.html';
      next();
    });
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

/**
 * Appends the styles of the frame to those of the kit, which every page loads, too: one file less. The name of the kit
 * then follows from both, as do the names of all files that name its styles.
 */
const joinedStyles = (): Plugin => {
  const stylesOf = (chunk?: Rolldown.RenderedChunk) => chunk?.viteMetadata?.importedCss ?? new Set<string>();
  const chunks = new Map<string, Rolldown.RenderedChunk>();
  return {
    name: 'console-joined-styles',
    apply: 'build',
    enforce: 'post',
    renderChunk(_code, chunk) {
      if (chunk.isEntry || chunk.name === 'kit') chunks.set(chunk.name, chunk);
    },
    augmentChunkHash: ({ name }) => (name === 'kit' ? [...stylesOf(chunks.get('index'))].join() : undefined),
    generateBundle: {
      order: 'pre',
      handler(_options, bundle) {
        const built = Object.values(bundle).filter((file) => file.type === 'chunk');
        const [kit, frame] = ['kit', 'index'].map((name) =>
          stylesOf(built.find((one) => one.name === name && (one.isEntry || name === 'kit'))),
        );
        const source = [...kit!, ...frame!].map((file) => {
          const asset = bundle[file];
          if (asset?.type !== 'asset') throw new Error(`${file} is not in the build.`);
          delete bundle[file];
          return asset.source;
        });
        if (source.length !== 2) throw new Error('The kit and the frame have no file of styles each.');
        const joined = this.emitFile({ type: 'asset', name: 'kit.css', source: source.join('') });
        frame!.clear();
        kit!.clear();
        kit!.add(this.getFileName(joined));
      },
    },
  };
};

/** What only lists with filters and forms use, and small parts of these. */
const selects =
  /console\/src\/resource\/(ListPage|create-form|settled|NoAgents)\.|@mantine\/core\/[^?]*components\/(Combobox|Select|MultiSelect|Pill|PillsInput)\/|console\/src\/ui\/(Select|FilterBar|FilterValue)|console\/src\/resource\/(AgentSelect|AgentFilter|ZoneField)/;
/** What some pages use, but not the Overview. */
const others =
  /console\/src\/(ui\/(JsonView|NativeSelect|RowsGrid|RowsTable|SecretMap)|api\/event-stream)\.|node_modules\/eventsource-parser\//;
/** Long lists, of which only rows in view are rendered. */
const virtual =
  /node_modules\/@tanstack\/(react-virtual|virtual-core)\/|console\/src\/ui\/drawings\/Waterfall\./;
/** What the lists of schedules and Work Items share, the pages of schedules, those of Work Items, and their actions. */
const rows = /console\/src\/resource\/(kept-rows|counted|optional-reason)\./;
const schedules = /console\/src\/(features\/schedules\/shared\/|resource\/WorkItemOutcome\.)/;
const workItems = /console\/src\/(features\/work-items\/trail|resource\/work-item|text\/en\/work-items)\./;
const actions = /console\/src\/features\/work-items\/(actions|question)\./;
/** Forms that are made of a table of fields: they need selects, which the others do without. */
const tables = /console\/src\/resource\/(describe-form|fields|FormFields)\./;
/** What the frame, the Overview and nearly every page use, without what only a few other pages have. */
const kit =
  /^\0|node_modules|console\/src\/(ui|api|base|routing|time|app)\/|console\/src\/resource\/(?!ListPage|AgentSelect|AgentFilter|ZoneField|NoAgents|counted|kept-rows|settled|thing|work-item|EventTag|WorkItemOutcome|EndingKeys|UsedByAgents|MakeCase|EditForm|create-form|settings-test|optional-reason)|console\/src\/text\/([^/]+$|en\/(ui|common|states|pages|outcomes|time|shell|cost)\.)|console\/src\/features\/[^/]+\/(search|types)\.ts$/;

/**
 * What pages share is a few files, not forty: a browser has six connections to a host. `tests/browser/budgets.test.ts`
 * has the limits. What one page alone uses, and words of a feature, go where they are used. The kit takes what it imports
 * with it: files that import each other in a circle would run in the wrong order.
 */
const sharedFiles = [
  {
    name: 'react',
    test: /console\/src\/app\/react\.ts$|node_modules\/(react|react-dom|scheduler)\//,
    priority: 3,
  },
  {
    name: 'kit',
    test: (id: string) => kit.test(id) && ![selects, others, virtual, tables].some((rest) => rest.test(id)),
    minShareCount: 2,
    priority: 2,
  },
  { name: 'selects', test: selects, priority: 1 },
  { name: 'others', test: others, minShareCount: 2, priority: 1 },
  { name: 'virtual', test: virtual, minShareCount: 2, priority: 1 },
  { name: 'forms', test: tables, minShareCount: 2, priority: 1 },
  { name: 'messages', test: /console\/src\/(messages|text\/en\/messages)/, minShareCount: 2, priority: 1 },
  { name: 'rows', test: rows, minShareCount: 2 },
  { name: 'schedules', test: schedules, minShareCount: 2 },
  { name: 'work-items', test: workItems, minShareCount: 2 },
  { name: 'actions', test: actions, minShareCount: 2 },
];

/**
 * Builds to `console/dist`. The development server passes requests of the API on to a platform on port 8080.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [
    react(),
    head({ early: ['kit', 'react'] }),
    joinedStyles(),
    approvalPage(),
    usedOperations(),
    withoutCssVariables(),
  ],
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
          {
            test: /\/console\/src\/(ui|api|base|routing|time|text|resource)\/[^?]*\.tsx?$/,
            sideEffects: false,
          },
        ],
      },
    },
  },
  server: { proxy: { '^/(app/api|api|healthz|readyz|metrics)': 'http://127.0.0.1:8080' } },
});
