import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { faults, unknownId, withPlatform } from './fixture.ts';
import {
  follow,
  type Operation,
  oneOfEach,
  operationsOf,
  type Resources,
  type Schema,
} from './operations-fixture.ts';

/** An object in a body: its schema, and the body around it. */
interface Part {
  path: string;
  schema: Schema;
  within(value: object): object;
}

// That an id is one of something is checked after the schema.
const formats = { uuid: true, uri: true, 'date-time': /^\d{4}-.*Z$/ } as const;
const ajv = new Ajv2020({ strict: false, formats, inlineRefs: false, code: { optimize: false } });
const validators = new Map<Schema, (value: unknown) => boolean>();

/** Whether a property of this schema takes `value`. */
const takes = (document: Schema, schema: Schema, value: unknown): boolean => {
  let validator = validators.get(schema);
  if (!validator) {
    // Compiled once for all that refer to them, because that takes far longer than a check.
    const id = document.info.title.replace(/\W+/g, '-');
    if (!ajv.getSchema(id)) ajv.addSchema({ $id: id, components: document.components });
    const refersTo = JSON.stringify(schema).replaceAll('"#/components/', `"${id}#/components/`);
    validator = ajv.compile(JSON.parse(refersTo)) as (value: unknown) => boolean;
    validators.set(schema, validator);
  }
  return validator(value);
};

/** The schemas of which a value has to have one, without null, references followed. */
const branches = (document: Schema, given: Schema): Schema[] => {
  const schema = follow(document, given);
  const choices: Schema[] | undefined = schema?.oneOf ?? schema?.anyOf;
  if (choices) return choices.flatMap((one) => branches(document, one));
  return schema?.type === 'null' ? [] : [schema];
};

/** What the schema does not say of these, by name: such a value is an address, and such an id exists. */
let valid: Record<string, unknown> = {};

/** A valid value with what is required and nothing else. */
const sample = (document: Schema, given: Schema, name = ''): unknown => {
  if (valid[name] !== undefined && takes(document, given, valid[name])) return valid[name];
  const [schema] = branches(document, given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.format === 'uuid') return unknownId;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'string') return 'x'.repeat(schema.minLength ?? 1);
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'array') {
    return Array.from({ length: schema.minItems ?? 0 }, () => sample(document, schema.items));
  }
  const required: string[] = schema.required ?? [];
  return Object.fromEntries(
    required.map((one) => [one, sample(document, schema.properties?.[one] ?? {}, one)]),
  );
};

/** The objects with named properties in bodies of `schema`, the body itself first. */
const partsOf = (
  document: Schema,
  schema: Schema,
  path = '',
  within: Part['within'] = (one) => one,
): Part[] =>
  branches(document, schema).flatMap((branch) => {
    if (branch.type === 'array') {
      return partsOf(document, branch.items, `${path}[0]`, (value) => within([value]));
    }
    if (!branch.properties) return [];
    const base = sample(document, branch) as object;
    const inner = Object.entries<Schema>(branch.properties).flatMap(([name, property]) =>
      partsOf(document, property, path ? `${path}.${name}` : name, (value) =>
        within({ ...base, [name]: value }),
      ),
    );
    return [{ path, schema: branch, within }, ...inner];
  });

/** A text, list or number just above the limit of a property; undefined if it has none. */
const tooMuch = (document: Schema, given: Schema): unknown => {
  const all = branches(document, given);
  const [list] = all.filter(({ maxItems }) => maxItems !== undefined);
  if (list) return Array.from({ length: list.maxItems + 1 }, () => sample(document, list.items));
  const text = Math.max(...all.map(({ maxLength }) => maxLength ?? 0));
  if (text > 0) return 'x'.repeat(text + 1);
  const [number] = all.filter(({ maximum }) => maximum !== undefined);
  return number && number.maximum + 1;
};

const tooLittle = (document: Schema, given: Schema): unknown => {
  const [number] = branches(document, given).filter(({ minimum }) => minimum !== undefined);
  return number && number.minimum - 1;
};

/** What is wrong for most properties, and right for some. An object may lack something, which is another fault. */
const values: [what: string, of: (document: Schema, schema: Schema) => unknown][] = [
  ['null', () => null],
  ['true', () => true],
  ['a fraction', () => 1.5],
  ['too little', tooLittle],
  ['an empty text', () => ''],
  ['a word', () => 'no such value'],
  ['a list', () => ['no such value']],
  [
    'an object',
    (document, given) =>
      branches(document, given).some(({ type }) => type === 'object') ? undefined : { no_such_field: 1 },
  ],
  ['too much', tooMuch],
];

/**
 * Properties that the tests of their feature check: those whose faults are a 400, that decide about others, or that are
 * checked together with what is stored.
 */
const elsewhere: Record<string, RegExp> = {
  createSchedule: /^(cron_expression|timezone)$/,
  previewSchedule: /^(cron_expression|timezone)$/,
  replaceSchedule: /^(cron_expression|timezone)$/,
  createCase: /^(work_item_id|run_id)$|\.content\[0\]/,
  updateCase: /\.content\[0\]/,
  createWorkItem: /^agent_id$/,
  createWorkItems: /^items/,
  createExtraction: /^file/,
  createConversationDataFrame: /^source\.semantic_data_model_id$/,
  createWorkItemDataFrame: /^source\.semantic_data_model_id$/,
  updateLlmConfiguration: /^(?!name$|model$)/,
  updateDataConnection: /^configuration/,
  updateEventConnection: /^settings/,
  // Which fields it takes depends on the kind of the stored one.
  updateChannel: /^(?!name$|enabled$)/,
  createRoute: /^match\.conditions|\.user_ids$/,
  updateRoute: /^(for|match)|\.user_ids$/,
  createToolServer: /^transport$/,
  startBulkAction: /^filter\.agent_id$/,
};

/** What a body needs that its schema does not require. */
const neededBy: Record<string, object> = {
  createCase: { input: { message: 'x' } },
  createApiKey: { role: 'member' },
  createLlmConfiguration: { api_key: 'x' },
  querySemanticDataModel: { sql: 'select 1' },
  sendMessage: { content: 'x' },
  streamMessage: { content: 'x' },
};

const isAtOrBelow = (path: string, name: string): boolean =>
  path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);

describe('wrong bodies', () =>
  withPlatform('postgres', (at) => {
    let one: Resources;
    let operations: Operation[];
    beforeAll(async () => {
      one = await oneOfEach(at());
      const address = 'http://127.0.0.1:9/';
      valid = {
        ...one.known,
        agent_ids: [one.external.agentId],
        url: address,
        base_url: address,
        issuer: address,
        endpoint: address,
        email: 'a@example.com',
        smtp_url: 'smtp://127.0.0.1:9',
        from: 'a@example.com',
        routing_key: 'k'.repeat(32),
        cron_expression: '0 0 1 1 *',
        servers: ['127.0.0.1:9'],
        brokers: ['127.0.0.1:9'],
      };
      operations = (await operationsOf(at())).filter(
        ({ id, schema }) => schema !== undefined && !['sendTraces', 'callAgent'].includes(id),
      );
      expect(operations.length).toBeGreaterThan(60);
    }, 240_000);
    afterAll(() => one?.[Symbol.asyncDispose]());

    /** What did not go as it should in a test. */
    let mismatches: string[] = [];
    beforeEach(() => {
      mismatches = [];
    });

    /** Sends `wrong` in a part of a body that is right otherwise: each has to be named, and nothing else. */
    const check = async (operation: Operation, part: Part, wrong: [string, unknown][], status: number) => {
      const pathOf = (name: string) => (part.path ? `${part.path}.${name}` : name);
      const sent = wrong.filter(([name]) => !elsewhere[operation.id]?.test(pathOf(name)));
      if (sent.length === 0) return;
      const base = {
        ...(sample(operation.document, part.schema) as object),
      };
      const body = JSON.stringify({
        ...neededBy[operation.id],
        ...part.within({ ...base, ...Object.fromEntries(sent) }),
      });
      const response = await one.client(operation).raw(operation.method, one.address(operation), body, {
        headers: { 'content-type': 'application/json' },
      });
      const found = response.status < 400 ? [] : faults(response);
      const names = sent.map(([name]) => pathOf(name));
      const isExpected = (path: string) =>
        names.some((name) => isAtOrBelow(path, name)) || isAtOrBelow(part.path, path);
      const missed = names.filter((name) => !found.some((path) => isAtOrBelow(path, name)));
      const more = found.filter((path) => !isExpected(path));
      if (response.status === status && missed.length + more.length === 0) return;
      const what = `${response.status}, not named: [${missed}], named as well: [${more}]`;
      mismatches.push(`${operation.id}: ${what}: ${body.slice(0, 300)} ${response.text.slice(0, 600)}`);
    };
    const eachPart = async (
      use: (operation: Operation, part: Part, properties: [string, Schema][]) => Promise<void>,
    ) => {
      for (const operation of operations) {
        for (const part of partsOf(operation.document, operation.schema)) {
          // What tells the branches of a union apart is right.
          const properties = Object.entries<Schema>(part.schema.properties);
          await use(
            operation,
            part,
            properties.filter(([, { const: fixed }]) => fixed === undefined),
          );
        }
      }
      expect(mismatches).toEqual([]);
    };

    test.each(values)(
      '%s where it is not allowed is 422, and each such field is named',
      (what, of) =>
        eachPart(async (operation, part, properties) => {
          const wrong = properties.flatMap(([name, schema]): [string, unknown][] => {
            const value = of(operation.document, schema);
            // In decisions it is the same as nothing.
            const isTaken = what === 'null' && part.path.startsWith('decisions');
            if (value === undefined || isTaken || takes(operation.document, schema, value)) return [];
            return [[name, value]];
          });
          await check(operation, part, wrong, 422);
        }),
      240_000,
    );

    test.each(['a\0', '\ud800'])('%j, which cannot be stored, is 422 in any field', (text) =>
      eachPart((operation, part, properties) =>
        check(
          operation,
          part,
          properties.map(([name]) => [name, text]),
          422,
        ),
      ),
    );

    test('a required field that is absent is 400', () =>
      eachPart((operation, part, properties) => {
        const required = properties.filter(([name]) => part.schema.required?.includes(name));
        return check(
          operation,
          part,
          required.map(([name]) => [name, undefined]),
          400,
        );
      }));
  }));
