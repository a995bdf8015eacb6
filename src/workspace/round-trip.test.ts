import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startTestPlatform, type TestPlatform } from '../../tests/harness/platform.ts';
import { toYaml } from '../lib/yaml.ts';
import { parseYaml } from './yaml.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** Any text that can be stored, with what YAML treats in ways of its own. */
const anyText = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom(
        ' ',
        '\n',
        '\r',
        '\t',
        ':',
        '-',
        '#',
        "'",
        '"',
        '$',
        '{',
        'secret:',
        '}',
        'a',
        '\u0085',
      ),
    }),
    fc.constantFrom(
      '',
      'yes',
      'null',
      '~',
      '1',
      '1e3',
      '0x1F',
      '2026-01-01',
      '<<',
      '---',
      '...',
      '\ufeffx',
      '\u2028',
      `\${secret:X}`,
    ),
  )
  .map((text) => text.toWellFormed().replaceAll('\u0000', ''));
/** Text that is stored: the embedded database drops a byte order mark at the beginning. */
const storedText = anyText.filter((text) => !text.startsWith('\ufeff'));
const name = storedText.filter((text) => text !== '' && [...text].length < 100);
const anyJson = fc.dictionary(
  anyText,
  fc.oneof(
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(anyText, { maxLength: 3 }),
  ),
  { maxKeys: 4 },
);

/** Text as a document has it: a reference is escaped. */
const written = (text: string): string => text.replaceAll(/\$+\{secret:/g, (mark) => `$${mark}`);
/** By what texts are, not by how they are written. */
const byPlain = (a: string, b: string): number => {
  const plain = (text: string) => text.replaceAll(/\$(\$+\{secret:)/g, '$1');
  return plain(a) < plain(b) ? -1 : 1;
};
const inDocument = (value: Json): Json => {
  if (typeof value === 'string') return written(value);
  if (Array.isArray(value)) return value.map(inDocument);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, inDocument(field)]));
};

const unique = <T>(item: fc.Arbitrary<T>, by: (one: T) => unknown, maxLength = 3) =>
  fc.uniqueArray(item, { selector: by, maxLength });

const schedule = fc.record({
  key: name,
  cron_expression: fc.constantFrom('0 9 * * *', '30 2 * * 1', '0 0 1 1 *'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata'),
  enabled: fc.boolean(),
  catch_up: fc.boolean(),
  work_item_name: fc.option(name),
  message: storedText,
  payload: anyJson,
  metadata: anyJson.filter((one) => !('workspace_key' in one)),
});

const workspace = fc
  .record({
    models: unique(fc.record({ name, kind: fc.constant('mock'), model: name }), (one) => one.name),
    agents: unique(
      fc.record({
        name,
        mode: fc.constant('worker'),
        description: fc.option(storedText),
        instructions: storedText,
        settings: fc.record({
          max_steps: fc.integer({ min: 1, max: 1_000 }),
          max_tokens: fc.option(fc.integer({ min: 1, max: 9 })),
        }),
        schedules: unique(schedule, (one) => one.key),
      }),
      (one) => one.name,
    ),
    mappings: unique(
      fc.record({
        claim: fc.constantFrom('groups', '/a/b', 'team'),
        value: name,
        role: fc.constantFrom('member', 'builder', 'admin'),
        priority: fc.integer({ min: 0, max: 1_000 }),
      }),
      (one) => JSON.stringify([one.claim, one.value]),
    ),
    integrations: unique(
      fc.record({
        name,
        version: name,
        debug: fc.boolean(),
        settings: fc.constant({ provider: 'otlp_custom_headers', url: 'http://127.0.0.1:2/v1/traces' }),
        global: fc.boolean(),
      }),
      (one) => one.name,
    ),
  })
  .map(
    ({ models, agents, mappings, integrations }): Json =>
      inDocument({
        version: 1,
        llm_configurations: models.filter((one) => one.name !== 'Built-in mock'),
        agents: agents.map((agent, i) => ({ ...agent, llm: models[i]?.name ?? null })),
        role_mappings: mappings,
        integrations: integrations.map(({ global, ...one }) => {
          const names = agents.map((agent) => agent.name).sort(byPlain);
          return {
            ...one,
            scopes: global ? (names.length > 0 ? { global, agents: names } : 'global') : names,
          };
        }),
      }),
  );

test('YAML keeps every text and number, and the same document gives the same bytes', () => {
  fc.assert(
    fc.property(fc.dictionary(anyText, anyJson), (value) => {
      const text = toYaml(value);
      expect(toYaml(value)).toBe(text);
      expect(parseYaml(text)).toEqual({ value });
    }),
    { examples: [[{ a: { b: ' \n', c: ['\n \n', '\n', ' '] } }]] },
  );
});

describe('a random workspace', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform('postgres');
  });
  afterAll(() => platform?.stop());

  test('is exported as it was applied, and applying it or the export again changes nothing', async () => {
    const send = async (path: string, document: unknown): Promise<Json> => {
      const response = await platform.app.post(`/workspace/${path}`, { document, prune: true });
      expect(response.status, response.text).toBe(200);
      return response.body;
    };
    const unchanged = async (document: unknown) =>
      (await send('plan', document)).changes.filter(({ action }: Json) => action !== 'unchanged');
    await fc.assert(
      fc.asyncProperty(workspace, async (document) => {
        await send('apply', document);
        expect(await unchanged(document)).toEqual([]);
        const text = (await platform.app.get('/workspace')).text;
        expect(await unchanged(text)).toEqual([]);
        const exported = parse(text, { maxAliasCount: 0 });
        const sorted = (list: Json[], by: (one: Json) => string) =>
          [...list].sort((x, y) => byPlain(by(x), by(y)));
        for (const key of ['agents', 'integrations']) {
          expect(exported[key].map((one: Json) => one.name)).toEqual(
            sorted(document[key], (one) => one.name).map((one) => one.name),
          );
        }
        for (const agent of document.agents) {
          const found = exported.agents.find((one: Json) => one.name === agent.name);
          expect(found.instructions ?? '').toBe(agent.instructions);
          expect(found.schedules.map((one: Json) => [one.key, one.message ?? '', one.payload ?? {}])).toEqual(
            sorted(agent.schedules, (one) => one.key).map((one: Json) => [one.key, one.message, one.payload]),
          );
        }
        expect(exported.role_mappings).toEqual(
          sorted(document.role_mappings, ({ claim, value }) => `${claim}=${value}`),
        );
        expect(exported.integrations).toEqual(sorted(document.integrations, (one) => one.name));
      }),
      { numRuns: 6 },
    );
  });
});
