const { readdirSync } = require('node:fs');
const { join, relative } = require('node:path');

/** Who may import whom. ARCHITECTURE.md draws it, this file enforces it. */

/**
 * Every folder of `src`, and the features of which it may import the `index.ts`. `lib`, `database` and `http` are the
 * base, which every feature may import, as well as `access`, `settings` and `audit`.
 */
const arrows = {
  lib: [],
  database: [],
  http: [],
  access: ['audit', 'settings', 'branding'],
  settings: ['audit'],
  audit: [],
  branding: [],
  sandbox: [],
  'document-intelligence': ['sandbox', 'llm-configurations', 'files'],
  sql: [],
  files: [],
  'data-connections': ['sandbox', 'sql'],
  'semantic-data-models': ['data-connections', 'sql', 'llm-configurations'],
  'data-frames': ['files', 'sandbox', 'sql', 'semantic-data-models'],
  console: [],
  agents: ['llm-configurations', 'tool-servers', 'callbacks', 'semantic-data-models'],
  'llm-configurations': [],
  'tool-servers': [],
  callbacks: [],
  'event-streams': [],
  'work-items': ['agents', 'callbacks', 'event-streams'],
  'external-workers': ['work-items', 'agents'],
  'tool-protocol': ['work-items', 'agents'],
  replicas: [],
  schedules: ['work-items', 'agents', 'replicas'],
  telemetry: [],
  observability: ['agents', 'telemetry'],
  runtime: [
    'work-items',
    'agents',
    'llm-configurations',
    'tool-servers',
    'telemetry',
    'semantic-data-models',
    'files',
    'data-frames',
    'document-intelligence',
  ],
  conversations: ['runtime', 'work-items', 'agents', 'event-streams'],
  application: ['schedules', 'work-items', 'agents', 'observability', 'telemetry', 'replicas'],
  workspace: [
    'branding',
    'llm-configurations',
    'tool-servers',
    'data-connections',
    'semantic-data-models',
    'agents',
    'callbacks',
    'schedules',
    'observability',
    'document-intelligence',
  ],
  command: [],
};
/** The base, from the bottom up: each may import those before it. */
const base = ['lib', 'database', 'http'];
const everyones = ['access', 'settings', 'audit'];

/** Modules inside a feature, and what each may import besides itself, `lib` and `database`. */
const modules = {
  'command/load-test': ['command/(client|options|show)\\.ts'],
  'telemetry/otlp': [],
  'telemetry/log': ['telemetry/otlp/'],
  'telemetry/log/files': ['telemetry/otlp/', 'telemetry/log/[^/]+\\.ts'],
  'telemetry/log/jetstream': ['telemetry/otlp/', 'telemetry/log/[^/]+\\.ts'],
  'telemetry/receiver': ['http/index\\.ts', 'telemetry/otlp/', 'telemetry/log/', 'telemetry/routing\\.ts'],
  'telemetry/delivery': ['telemetry/otlp/', 'telemetry/log/', 'telemetry/routing\\.ts'],
  'telemetry/reports': ['telemetry/log/', 'telemetry/delivery/report\\.ts'],
  'access/people': [
    'feature\\.ts',
    'http/index\\.ts',
    'audit/index\\.ts',
    'settings/index\\.ts',
    'access/changed\\.ts',
  ],
  'access/keys': [
    'http/index\\.ts',
    'audit/index\\.ts',
    'settings/index\\.ts',
    'access/(changed|authenticator)\\.ts',
    'access/people/',
  ],
  'access/sessions': [
    'branding/index\\.ts',
    'http/index\\.ts',
    'audit/index\\.ts',
    'settings/index\\.ts',
    'access/(authenticator|cache|changed|cookies)\\.ts',
    'access/people/',
    'access/keys/',
    'access/sign-in/provider\\.ts',
  ],
  'access/sign-in': [
    'http/index\\.ts',
    'audit/index\\.ts',
    'feature\\.ts',
    'access/cookies\\.ts',
    'access/people/',
    'access/sessions/',
  ],
  'runtime/model': ['llm-configurations/index\\.ts', 'runtime/(step|messages|mock)\\.ts'],
  'runtime/model/schemas': ['llm-configurations/index\\.ts'],
  'tool-servers/client': ['feature\\.ts', 'tool-servers/(settings|store|definitions|redactor)\\.ts'],
  'data-connections/engines': ['sandbox/index\\.ts', 'sql/index\\.ts'],
  'sandbox/jobs': ['sandbox/(failure|jobs)\\.ts'],
  'sandbox/jobs/frames': ['sandbox/jobs/(fault|text-file|zip-check)\\.ts'],
  'sandbox/jobs/documents': ['sandbox/jobs/(fault|text-file|zip-check|frames/spreadsheet)\\.ts'],
  'document-intelligence/configuration': [
    'http/index\\.ts',
    'audit/index\\.ts',
    'llm-configurations/index\\.ts',
    'sandbox/index\\.ts',
    'document-intelligence/readers/',
  ],
  'document-intelligence/readers': [
    'sandbox/index\\.ts',
    'document-intelligence/boxes\\.ts',
    'document-intelligence/configuration/settings\\.ts',
  ],
  'document-intelligence/extractions': [
    'http/index\\.ts',
    'audit/index\\.ts',
    'files/index\\.ts',
    'llm-configurations/index\\.ts',
    'sandbox/index\\.ts',
    'settings/index\\.ts',
    'document-intelligence/boxes\\.ts',
    'document-intelligence/(configuration|readers|schema|grounding)/',
  ],
  'document-intelligence/schema': [],
  'document-intelligence/grounding': [
    'sandbox/index\\.ts',
    'document-intelligence/boxes\\.ts',
    'document-intelligence/schema/',
  ],
  'sql/functions': ['sql/[^/]+\\.ts'],
  'sql/parse': ['sql/[^/]+\\.ts', 'sql/functions/'],
  'sql/resolve': ['sql/[^/]+\\.ts', 'sql/functions/'],
  'sql/print': ['sql/[^/]+\\.ts', 'sql/functions/'],
  'semantic-data-models/compiler': [
    'sql/index\\.ts',
    'data-connections/index\\.ts',
    'semantic-data-models/(ossie|issues|language)\\.ts',
  ],
  'workspace/kinds': [
    'http/index\\.ts',
    'access/index\\.ts',
    'settings/index\\.ts',
    'branding/index\\.ts',
    'llm-configurations/index\\.ts',
    'tool-servers/index\\.ts',
    'data-connections/index\\.ts',
    'semantic-data-models/index\\.ts',
    'agents/index\\.ts',
    'callbacks/index\\.ts',
    'schedules/index\\.ts',
    'observability/index\\.ts',
    'document-intelligence/index\\.ts',
    'workspace/(diff|paths|strict|document)\\.ts',
  ],
  'schedules/cron': [],
  'schedules/explain': [
    'http/index\\.ts',
    'replicas/index\\.ts',
    'settings/index\\.ts',
    'work-items/index\\.ts',
    'schedules/cron/',
    'schedules/[^/]+\\.ts',
  ],
  'schedules/firing': [
    'schedules/cron/',
    'schedules/(occurrence-)?store\\.ts',
    'settings/index\\.ts',
    'work-items/index\\.ts',
  ],
  'application/agents': ['http/index\\.ts'],
  'application/search': ['http/index\\.ts', 'settings/index\\.ts'],
  'application/audits': ['http/index\\.ts', 'audit/index\\.ts', 'application/search/'],
  'application/status': ['http/index\\.ts', 'audit/index\\.ts', 'settings/index\\.ts', 'replicas/index\\.ts'],
  'application/schedules': ['http/index\\.ts', 'schedules/index\\.ts', 'replicas/index\\.ts'],
  'application/timeline': [
    'http/index\\.ts',
    'schedules/index\\.ts',
    'settings/index\\.ts',
    'application/schedules/schemas\\.ts',
  ],
  'work-items/bulk-actions': [
    'http/index\\.ts',
    'agents/index\\.ts',
    'audit/index\\.ts',
    'work-items/(schemas|states|store|work-items)\\.ts',
    'work-items/search/',
  ],
  'work-items/search': ['http/index\\.ts', 'work-items/(schemas|states)\\.ts'],
  'application/work-items': [
    'http/index\\.ts',
    'agents/index\\.ts',
    'replicas/index\\.ts',
    'work-items/index\\.ts',
  ],
  'application/overview': [
    'http/index\\.ts',
    'audit/index\\.ts',
    'replicas/index\\.ts',
    'schedules/index\\.ts',
    'settings/index\\.ts',
    'work-items/index\\.ts',
  ],
  'application/overview/attention': [
    'audit/index\\.ts',
    'replicas/index\\.ts',
    'schedules/index\\.ts',
    'work-items/index\\.ts',
  ],
};

/** Each outside library of weight has one importer, a file or a folder. */
const oneImporter = {
  fastify: '^src/http/',
  kysely: '^src/database/',
  pg: '^src/(database|data-connections)/',
  'pg-cursor': '^src/data-connections/',
  mysql2: '^src/data-connections/',
  '@electric-sql/pglite': '^src/database/',
  '@opentelemetry/(sdk-trace|resources|otlp-transformer)': '^src/telemetry/',
  'ipaddr.js': '^src/lib/(egress-addresses|outgoing-proxy)\\.ts$',
  undici: '^src/lib/egress(-exchange|-proxy)?\\.ts$',
  ai: '^src/runtime/model/',
  '@ai-sdk/.*': '^src/runtime/model/',
  ajv: '^src/lib/json-schema\\.ts$',
  re2js: '^src/lib/linear-regexp\\.ts$',
  '@modelcontextprotocol/client': '^src/tool-servers/',
  '@modelcontextprotocol/server': '^src/tool-protocol/',
  'image-size': '^src/(branding|sandbox/jobs)/',
  'pdfjs-dist': '^src/sandbox/jobs/documents/',
  mammoth: '^src/sandbox/jobs/documents/',
  'tesseract\\.js': '^src/sandbox/jobs/documents/',
  '@napi-rs/canvas': '^src/sandbox/jobs/',
  'libpg-query': '^src/sql/parse/',
  '@duckdb/node-api': '^src/sandbox/jobs/',
  'read-excel-file': '^src/sandbox/jobs/',
  yauzl: '^src/(sandbox/jobs|files)/',
  '@fastify/busboy': '^src/http/',
  'openid-client': '^src/access/sign-in/',
  jose: '^src/access/sign-in/',
  cookie: '^src/access/',
  '@fastify/proxy-addr': '^src/http/',
  cronstrue: '^src/schedules/cron/',
  'temporal-polyfill': '^src/(runtime/tools\\.ts|semantic-data-models/compiler/)',
  'prom-client': '^src/lib/metrics\\.ts$',
  pino: '^src/lib/log\\.ts$',
  '@nats-io/.*': '^src/telemetry/log/jetstream/stream\\.ts$',
};

const notTests = '\\.test\\.ts$';
const folders = Object.keys(arrows);

const unlisted = readdirSync(join(__dirname, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => relative(join(__dirname, 'src'), join(entry.parentPath, entry.name)))
  .filter((folder) => !folders.includes(folder) && !(folder in modules))
  .map((folder) => `src/${folder}`);
if (unlisted.length > 0) {
  throw new Error(`${unlisted.join(', ')}: list it in .dependency-cruiser.cjs, with what it may import`);
}

/** What a folder may import of `src`. `feature.ts` has only types: the shape of a feature and of the services. */
const allowedFor = (folder) => {
  const inBase = base.indexOf(folder);
  if (inBase !== -1) return [`^src/(${base.slice(0, inBase + 1).join('|')})/`];
  const others = [...arrows[folder], ...(everyones.includes(folder) ? [] : everyones)];
  return [
    `^src/(${[...base, folder].join('|')})/`,
    '^src/feature\\.ts$',
    ...others.map((other) => `^src/${other}/index\\.ts$`),
  ];
};

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...folders.map((folder) => ({
      name: `arrows-of-${folder}`,
      comment: `${folder} may import itself and: ${allowedFor(folder).join(' ')}`,
      severity: 'error',
      from: { path: `^src/${folder}/`, pathNot: notTests },
      to: { path: '^src/', pathNot: allowedFor(folder) },
    })),
    {
      name: 'the-root-imports-index-files',
      comment: 'what joins features uses what they export, and nothing inside them',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { path: '^src/[^/]+/', pathNot: ['^src/lib/', '^src/[^/]+/index\\.ts$'] },
    },
    ...Object.entries(modules).map(([module, others]) => ({
      name: `modules-of-${module.replaceAll('/', '-')}`,
      comment: `${module} may import itself, lib, database and: ${others.join(' ')}`,
      severity: 'error',
      from: { path: `^src/${module}/`, pathNot: notTests },
      to: {
        path: '^src/',
        pathNot: [`^src/${module}/`, '^src/(lib|database)/', ...others.map((other) => `^src/${other}`)],
      },
    })),
    {
      name: 'product-imports-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: notTests },
      to: { path: '^(tests|bench|tools)/' },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      from: { path: '^src/', pathNot: notTests },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      // Vite makes the modules that are called `virtual:`.
      to: { couldNotResolve: true, pathNot: '^virtual:' },
    },
    {
      name: 'the-application-is-a-client',
      comment: 'it uses the API, and nothing of the platform',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|tests|bench|tools)/' },
    },
    {
      name: 'the-platform-imports-nothing-of-the-application',
      severity: 'error',
      from: { path: '^(src|tools|bench)/' },
      to: { path: '^console/' },
    },
    {
      name: 'mantine-is-inside-ui',
      comment: 'so that a component can be replaced in one place',
      severity: 'error',
      from: { path: '^console/src/', pathNot: '^console/src/ui/' },
      to: { path: '^node_modules/@mantine/' },
    },
    {
      name: 'the-foundation-of-the-application-knows-no-page',
      severity: 'error',
      from: { path: '^console/src/(ui|api|time|text|files|messages|resource)/' },
      to: { path: '^console/src/features/' },
    },
    ...Object.entries(oneImporter).map(([library, importer]) => ({
      name: `one-importer-of-${library.replaceAll(/[^a-z]+/g, '-')}`,
      severity: 'error',
      from: { path: '^src/', pathNot: [importer, notTests] },
      to: { path: `^node_modules/${library}/`, dependencyTypesNot: ['type-only'] },
    })),
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
