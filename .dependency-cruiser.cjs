/** The import rules of the house: ARCHITECTURE.md draws them, this file enforces them. */

/** Which feature may call which, besides `access`, `settings` and `audit`, which all may call. */
const arrows = {
  access: ['audit'],
  settings: ['audit'],
  audit: [],
  agents: [],
  'work-items': ['agents'],
  conversations: ['agents'],
  schedules: ['work-items', 'agents'],
  telemetry: [],
  observability: ['agents', 'telemetry'],
  'llm-configurations': [],
  runtime: ['work-items', 'agents', 'conversations', 'llm-configurations', 'tool-servers', 'telemetry'],
};
const everyone = ['access', 'settings', 'audit'];
const features = Object.keys(arrows);

const featureRules = features.map((name) => {
  const allowed = [
    ...new Set([
      ...arrows[name],
      ...(name === 'access' || name === 'audit' || name === 'settings' ? [] : everyone),
    ]),
  ];
  return {
    name: `${name}-arrows`,
    comment: `${name} may import lib, database, http, itself, and only the index.ts of: ${allowed.join(', ') || 'no other feature'}`,
    severity: 'error',
    from: { path: `^src/${name}/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: '^src/',
      pathNot: [
        '^src/(lib|database|http)/',
        `^src/${name}/`,
        ...allowed.map((other) => `^src/${other}/index\\.ts$`),
      ],
    },
  };
});

/** Each outside library of weight has one importer (a file or a folder). */
const oneImporter = {
  fastify: '^src/http/',
  pg: '^src/database/',
  '@electric-sql/pglite': '^src/database/',
  '@opentelemetry/(sdk-trace|resources|otlp-transformer)': '^src/telemetry/',
  undici: '^src/lib/egress\\.ts$',
  ai: '^src/runtime/model\\.ts$',
  '@ai-sdk/.*': '^src/runtime/model\\.ts$',
  cronstrue: '^src/schedules/',
  'prom-client': '^src/lib/metrics\\.ts$',
  pino: '^src/lib/log\\.ts$',
  '@nats-io/.*': '^src/telemetry/log/jetstream-stream\\.ts$',
};

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'lib-is-pure',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^src/', pathNot: '^src/lib/' },
    },
    {
      name: 'database-imports-lib',
      severity: 'error',
      from: { path: '^src/database/' },
      to: { path: '^src/', pathNot: '^src/(lib|database)/' },
    },
    {
      name: 'http-knows-no-feature',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/', pathNot: '^src/(lib|database|http)/' },
    },
    {
      name: 'product-imports-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(tests|bench|tools)/' },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...featureRules,
    ...Object.entries(oneImporter).map(([library, importer]) => ({
      name: `one-importer-of-${library.replaceAll(/[^a-z]+/g, '-')}`,
      severity: 'error',
      from: { path: '^src/', pathNot: [importer, '\\.test\\.ts$'] },
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
