const { readdirSync } = require('node:fs');
const { join, relative } = require('node:path');

/** Who may import whom. ARCHITECTURE.md draws it, this file enforces it. */

/** Every folder of `src` may import these from the bottom up, and every feature imports all of them. */
const base = ['lib', 'database', 'http', 'resource'];
/** Every feature imports the `index.ts` of these. */
const everyones = ['access', 'settings', 'audit'];

/**
 * What each other folder of `src` may import besides itself and the base; a module inside a feature: besides itself,
 * `lib` and `database`. `agents` is its index.ts, `./store.ts` a file of the own feature, `./people/` a folder of it,
 * `./*` the files at its top, and `feature` the types of feature.ts.
 */
const imports = {
  access: 'audit settings branding',
  'access/keys': 'http audit settings ./changed.ts ./authenticator.ts ./people/',
  'access/people': 'feature http resource audit settings ./changed.ts',
  'access/sessions':
    'branding http audit settings ./authenticator.ts ./cache.ts ./changed.ts ./cookies.ts ./people/ ./keys/ ./sign-in/provider.ts',
  'access/sign-in': 'http audit feature ./cookies.ts ./people/ ./sessions/',
  settings: 'audit',
  'sandbox/jobs': './failure.ts ./jobs.ts',
  'sandbox/jobs/documents':
    './jobs/fault.ts ./jobs/text-file.ts ./jobs/zip-check.ts ./jobs/frames/spreadsheet.ts',
  'sandbox/jobs/frames': './jobs/fault.ts ./jobs/text-file.ts ./jobs/zip-check.ts',
  'document-intelligence': 'sandbox llm-configurations files',
  'document-intelligence/configuration': 'http resource audit llm-configurations sandbox ./readers/',
  'document-intelligence/extractions':
    'http audit files llm-configurations sandbox settings ./boxes.ts ./configuration/ ./readers/ ./schema/ ./grounding/',
  'document-intelligence/grounding': 'sandbox ./boxes.ts ./schema/',
  'document-intelligence/readers': 'sandbox ./boxes.ts ./configuration/settings.ts',
  'data-connections': 'sandbox',
  'data-connections/engines': 'sandbox',
  'semantic-data-models': 'data-connections llm-configurations',
  'semantic-data-models/compiler': 'data-connections ./ossie.ts ./issues.ts ./language.ts',
  'data-frames': 'files sandbox semantic-data-models',
  agents: 'llm-configurations tool-servers callbacks semantic-data-models',
  'agents/versions': 'feature http audit ./*',
  'tool-servers/client': 'feature ./settings.ts ./store.ts ./definitions.ts ./redactor.ts',
  'work-items': 'runs agents callbacks event-streams replicas',
  'work-items/bulk-actions':
    'http agents audit ./schemas.ts ./states.ts ./store.ts ./work-items.ts ./search/',
  'work-items/list': 'runs http replicas ./search/ ./*',
  'work-items/overview': './search/conditions.ts',
  'work-items/page': 'runs http agents ./list/ ./search/ ./*',
  'work-items/search': 'http ./schemas.ts ./states.ts',
  'external-workers': 'runs work-items agents',
  'tool-protocol': 'work-items agents event-streams',
  schedules: 'work-items agents replicas',
  'schedules/explain': 'http replicas settings work-items ./*',
  'schedules/firing': './lateness.ts ./occurrence-store.ts ./store.ts settings work-items',
  'schedules/list': 'http replicas ./explain/ ./*',
  'schedules/overview': 'replicas ./explain/ ./*',
  'schedules/timeline': 'http settings ./explain/ ./list/ ./*',
  'telemetry/delivery': './routing.ts',
  'telemetry/receiver': 'http ./routing.ts',
  'telemetry/reports': './delivery/report.ts',
  observability: 'agents telemetry',
  'observability/overview': 'telemetry',
  runtime:
    'runs work-items agents llm-configurations tool-servers telemetry semantic-data-models files data-frames document-intelligence',
  'runtime/model': 'llm-configurations ./step.ts ./messages.ts ./mock.ts',
  'runtime/model/schemas': 'llm-configurations',
  conversations: 'runs runtime work-items agents event-streams',
  application: 'schedules work-items agents observability replicas',
  'application/audits': 'http audit ./search/ ./things.ts',
  'application/overview': 'http access audit observability replicas schedules settings work-items',
  'application/search': 'http settings ./things.ts',
  'application/status': 'http audit settings replicas',
  workspace:
    'branding llm-configurations tool-servers data-connections semantic-data-models agents callbacks schedules observability document-intelligence',
  'workspace/kinds':
    'http resource access settings branding llm-configurations tool-servers data-connections semantic-data-models agents callbacks schedules observability document-intelligence ./*',
  'command/load-test': './client.ts ./proxy.ts ./options.ts ./show.ts',
};
/** Folders that import nothing of other features. */
const leaves =
  'audit branding sandbox files console llm-configurations tool-servers callbacks event-streams runs replicas telemetry command telemetry/stream-store document-intelligence/schema';

/** Libraries of weight, and the one place that imports each. Those of packages are in their package.json only. */
const importers = {
  'http/': 'fastify @fastify/busboy @fastify/proxy-addr',
  'database/': 'kysely @electric-sql/pglite',
  'database/ data-connections/': 'pg',
  'data-connections/': 'pg-cursor mysql2',
  'telemetry/': '@opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/otlp-transformer',
  'lib/egress-addresses.ts lib/outgoing-proxy.ts http/addresses.ts': 'ipaddr.js',
  'lib/egress.ts lib/egress-exchange.ts lib/egress-proxy.ts': 'undici',
  'runtime/model/': 'ai @ai-sdk/*',
  'lib/json-schema.ts': 'ajv',
  'lib/linear-regexp.ts': 're2js',
  'tool-servers/': '@modelcontextprotocol/client',
  'tool-protocol/': '@modelcontextprotocol/server',
  'branding/ sandbox/jobs/': 'image-size',
  'sandbox/jobs/documents/': 'pdfjs-dist mammoth tesseract.js',
  'sandbox/jobs/': '@napi-rs/canvas @duckdb/node-api read-excel-file',
  'sandbox/jobs/ files/': 'yauzl',
  'access/sign-in/': 'openid-client jose',
  'access/': 'cookie',
  'runtime/tools.ts semantic-data-models/compiler/': 'temporal-polyfill',
  'lib/metrics.ts': 'prom-client',
  'lib/log.ts': 'pino',
};

const notTests = '\\.test\\.ts$';
const exact = (path) => path.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
const words = (text) => text.split(' ').filter((word) => word !== '');
const table = { ...imports, ...Object.fromEntries(words(leaves).map((leaf) => [leaf, ''])) };

const unlisted = readdirSync(join(__dirname, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => relative(join(__dirname, 'src'), join(entry.parentPath, entry.name)))
  .filter((folder) => !base.includes(folder) && !(folder in table))
  .map((folder) => `src/${folder}`);
if (unlisted.length > 0) {
  throw new Error(`${unlisted.join(', ')}: list it in .dependency-cruiser.cjs, with what it may import`);
}

/** The pattern of a word of `imports` in the row of `folder`. */
const patternOf = (word, folder) => {
  if (word === 'feature') return '^src/feature\\.ts$';
  if (!word.startsWith('./')) return `^src/${word}/index\\.ts$`;
  const path = `^src/${folder.split('/')[0]}/${word.slice(2)}`;
  return path.endsWith('*') ? `${exact(path)}\\.ts$` : exact(path);
};

const allowedFor = (folder) => {
  const own = words(table[folder]).map((word) => patternOf(word, folder));
  if (folder.includes('/')) return [`^src/(lib|database|${folder})/`, ...own];
  const shared = everyones.includes(folder) ? [] : everyones.map((name) => patternOf(name, folder));
  return [`^src/(${[...base, folder].join('|')})/`, patternOf('feature', folder), ...shared, ...own];
};

/** `from` may not import `to`; the details that dependency-cruiser knows may be added to either. */
const rule = (name, from, to, comment) => ({
  name,
  severity: 'error',
  from,
  to,
  ...(comment ? { comment } : {}),
});
const product = { path: '^src/', pathNot: notTests };

/** The files that `exports` of the packages name. */
const faces = readdirSync(join(__dirname, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) =>
    Object.values(require(`./packages/${name}/package.json`).exports).map(
      (file) => `^${exact(join('packages', name, file))}$`,
    ),
  );

/** The rooms of the application, from the ground up. */
const rooms = words('text base api routing time ui resource messages files features app');

module.exports = {
  forbidden: [
    rule('no-cycles', { path: '^src/' }, { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } }),
    // Also none of types: a page's type depends on the router's, which depends on the types of all pages.
    rule('no-cycles-in-the-application', { path: '^console/' }, { circular: true }),
    ...base.map((folder, k) =>
      rule(
        `imports-of-${folder}`,
        { path: `^src/${folder}/`, pathNot: notTests },
        { path: '^src/', pathNot: `^src/(${base.slice(0, k + 1).join('|')})/` },
      ),
    ),
    ...Object.keys(table).map((folder) =>
      rule(
        `imports-of-${folder.replaceAll('/', '-')}`,
        { path: `^src/${folder}/`, pathNot: notTests },
        { path: '^src/', pathNot: allowedFor(folder) },
        `${folder} may import ${allowedFor(folder).join(' ')}`,
      ),
    ),
    rule(
      'the-root-imports-index-files',
      { path: '^src/[^/]+\\.ts$' },
      { path: '^src/[^/]+/', pathNot: ['^src/lib/', '^src/[^/]+/index\\.ts$'] },
    ),
    ...Object.entries(importers).flatMap(([places, libraries]) =>
      words(libraries).map((library) =>
        rule(
          `importer-of-${library}`,
          { path: '^src/', pathNot: [...words(places).map((place) => `^src/${exact(place)}`), notTests] },
          { path: `^node_modules/${exact(library)}/`, dependencyTypesNot: ['type-only'] },
        ),
      ),
    ),
    rule(
      'packages-stand-alone',
      { path: '^packages/([^/]+)/' },
      { path: '^(src|tests|bench|tools|console|packages)/', pathNot: '^packages/$1/' },
    ),
    rule(
      'packages-are-used-through-their-exports',
      { path: '^(src|tests|bench|tools|console)/' },
      { path: '^packages/', pathNot: [...faces, '^packages/[^/]+/tests/'] },
    ),
    rule('product-imports-no-tests', product, { path: ['^(tests|bench|tools)/', '^packages/[^/]+/tests/'] }),
    rule('no-dev-dependency-in-product', product, {
      dependencyTypes: ['npm-dev'],
      dependencyTypesNot: ['type-only'],
    }),
    rule('everything-resolves', {}, { couldNotResolve: true }),
    rule(
      'the-application-is-a-client',
      { path: '^console/' },
      { path: '^(src|packages|tests|bench|tools)/' },
    ),
    rule(
      'the-platform-imports-nothing-of-the-application',
      { path: '^(src|tools|bench)/' },
      { path: '^console/' },
    ),
    // So that a component can be replaced in one place.
    rule(
      'mantine-is-inside-ui',
      { path: '^console/src/', pathNot: '^console/src/ui/' },
      { path: '^node_modules/@mantine/' },
    ),
    ...rooms.map((room, k) =>
      rule(
        `the-application-imports-nothing-above-${room}`,
        { path: `^console/src/${room}/` },
        { path: `^console/src/(${rooms.slice(k + 1).join('|')})/` },
      ),
    ),
    // Review shows Work Items.
    rule(
      'a-feature-of-the-application-knows-no-other',
      { path: '^console/src/features/([^/]+)/' },
      { path: '^console/src/features/', pathNot: '^console/src/features/($1|work-items)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
