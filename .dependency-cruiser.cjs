const { readdirSync } = require('node:fs');
const { join } = require('node:path');

/** Who may import whom. ARCHITECTURE.md draws it, this file enforces it. */

/** From the bottom up: each imports those before it, and every feature imports all. */
const base = ['lib', 'database', 'http', 'resource'];
/** Every feature imports the `index.ts` of these. */
const everyones = ['access', 'settings', 'audit'];

/**
 * The features whose `index.ts` a feature imports besides those. A module inside a feature has a row only if it may import
 * less than its feature: `./store.ts` is a file of the feature, `./people/` a folder, and it has `lib` and `database`.
 */
const imports = {
  access: 'audit settings branding',
  'access/keys': 'http audit settings ./changed.ts ./authenticator.ts ./people/',
  'access/people': 'feature http resource audit settings ./changed.ts',
  settings: 'audit',
  'sandbox/jobs': './failure.ts ./jobs.ts',
  'document-intelligence': 'sandbox llm-configurations files',
  'document-intelligence/grounding': 'sandbox ./boxes.ts ./schema/',
  'data-connections': 'sandbox',
  'data-connections/engines': 'sandbox',
  'semantic-data-models': 'data-connections llm-configurations',
  'semantic-data-models/compiler': 'data-connections ./ossie.ts ./issues.ts ./language.ts',
  'data-frames': 'files sandbox semantic-data-models',
  budgets: 'llm-configurations',
  'budgets/engine': '',
  agents:
    'charges trial-options event-streams llm-configurations tool-servers callbacks semantic-data-models',
  channels: 'callbacks agents replicas',
  prices: 'llm-configurations',
  'tool-servers/client': 'feature tool-inputs ./settings.ts ./store.ts ./definitions.ts',
  charges: 'budgets prices llm-configurations',
  runs: 'messages tool-inputs',
  'tool-servers': 'tool-inputs replicas',
  reviews: 'runs agents',
  'work-items':
    'tool-inputs budgets charges runs reviews messages agents callbacks event-streams replicas transition-events',
  'external-workers': 'budgets charges runs messages work-items agents',
  'tool-protocol': 'work-items agents event-streams',
  schedules: 'charges work-items agents replicas',
  'schedules/firing': './lateness.ts ./occurrence-store.ts ./store.ts settings work-items',
  triggers: 'work-items agents event-connections',
  'telemetry/delivery': './routing.ts',
  'telemetry/receiver': 'http ./routing.ts',
  'telemetry/reports': './delivery/report.ts',
  observability: 'agents telemetry',
  traces: 'telemetry agents work-items conversations',
  runtime:
    'tool-inputs budgets charges runs messages work-items agents llm-configurations tool-servers telemetry semantic-data-models files data-frames document-intelligence',
  'runtime/model': 'charges llm-configurations ./step.ts ./messages.ts ./mock.ts',
  conversations: 'tool-inputs budgets charges runs reviews messages runtime work-items agents event-streams',
  evaluation:
    'charges trial-options runs messages runtime work-items conversations agents llm-configurations tool-servers files data-frames data-connections semantic-data-models telemetry',
  alerts: 'agents budgets observability replicas triggers',
  application: 'alerts budgets channels charges schedules triggers work-items agents observability replicas',
  workspace:
    'channels alerts budgets branding llm-configurations prices tool-servers data-connections event-connections semantic-data-models evaluation agents callbacks schedules triggers observability document-intelligence',
  'command/load-test': './api.ts ./client.ts ./proxy.ts ./options.ts ./show.ts',
  'command/eval': './api.ts ./client.ts ./options.ts ./show.ts',
};
/** Folders that import nothing of other features. */
const leaves =
  'audit branding sandbox files event-connections console llm-configurations callbacks event-streams messages tool-inputs trial-options replicas transition-events telemetry command telemetry/stream-store document-intelligence/schema';

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
  'prices/catalogue.ts': '@pydantic/genai-prices',
  'lib/json-schema.ts': 'ajv',
  'lib/linear-regexp.ts': 're2js',
  'tool-servers/': '@modelcontextprotocol/client',
  'tool-protocol/': '@modelcontextprotocol/server',
  'branding/ sandbox/jobs/': 'image-size',
  'sandbox/jobs/documents/': 'pdfjs-dist mammoth tesseract.js',
  'sandbox/jobs/': '@napi-rs/canvas @duckdb/node-api read-excel-file',
  'sandbox/jobs/ files/': 'yauzl',
  'access/sign-in/': 'openid-client jose',
  'event-connections/nats/': '@nats-io/*',
  'event-connections/kafka/': '@platformatic/kafka',
  'access/': 'cookie',
  'channels/kinds/email.ts': 'nodemailer',
  'channels/kinds/slack/ channels/slack-interactions/': '@slack/*',
  'runtime/tools.ts semantic-data-models/compiler/': 'temporal-polyfill',
  'lib/metrics.ts': 'prom-client',
  'lib/log.ts': 'pino',
};

const notTests = '\\.test\\.ts$';
const exact = (path) => path.replaceAll('.', '\\.').replaceAll('*', '[^/]+');
const words = (text) => text.split(' ');
const table = { ...imports, ...Object.fromEntries(words(leaves).map((leaf) => [leaf, ''])) };

const foldersOf = (folder) => readdirSync(folder, { withFileTypes: true }).filter((e) => e.isDirectory());
const unlisted = foldersOf('src').filter(({ name }) => !base.includes(name) && !(name in table));
if (unlisted.length > 0)
  throw new Error(`not in .dependency-cruiser.cjs: ${unlisted.map(({ name }) => name)}`);

const allowedFor = (folder) => {
  const [feature, isModule] = folder.split('/');
  const face = (name) => (name === 'feature' ? '^src/feature\\.ts$' : `^src/${name}/index\\.ts$`);
  const own = table[folder]
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => (word.startsWith('./') ? `^src/${feature}/${exact(word.slice(2))}` : face(word)));
  if (isModule) return [`^src/(lib|database|${folder})/`, ...own];
  const shared = everyones.includes(folder) ? [] : everyones.map(face);
  return [`^src/(${[...base, folder].join('|')})/`, face('feature'), ...shared, ...own];
};

const rule = (name, from, to) => ({ name, severity: 'error', from, to });
/** `from` imports of `src` only `to`. */
const only = (folder, to) =>
  rule(
    `imports-of-${folder.replaceAll('/', '-')}`,
    { path: `^src/${folder}/`, pathNot: notTests },
    { path: '^src/', pathNot: to },
  );
const product = { path: '^src/', pathNot: notTests };

/** The files that `exports` of the packages name. */
const faces = foldersOf('packages').flatMap(({ name }) =>
  Object.values(require(`./packages/${name}/package.json`).exports).map(
    (file) => `^${exact(join('packages', name, file))}$`,
  ),
);

/** The rooms of the application, from the ground up. */
const rooms = words('text base api routing time ui resource messages files traces features app approve');

module.exports = {
  forbidden: [
    rule('no-cycles', { path: '^src/' }, { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } }),
    // Also none of types: a page's type depends on the router's, which depends on the types of all pages.
    rule('no-cycles-in-the-application', { path: '^console/' }, { circular: true }),
    ...base.map((folder, k) => only(folder, `^src/(${base.slice(0, k + 1).join('|')})/`)),
    ...Object.keys(table).map((folder) => only(folder, allowedFor(folder))),
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
