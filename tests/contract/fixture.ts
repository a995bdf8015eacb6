import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Database, sql } from '../../src/database/index.ts';
import { createMigrated, databases, testedDatabases } from '../harness/database.ts';
import type { Client, ClientResponse, RequestOptions } from '../harness/http.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { dropDatabase } from '../harness/postgres.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const unknownId = '019a0000-0000-7000-8000-000000000000';

/**
 * An OpenAPI document, and the validators of its schemas. Each is compiled once, because that takes far longer than a
 * check, and one set serves all files of a test process: the document depends on the release alone, except the address.
 */
class Schemas {
  readonly document: Json;
  readonly paths: { pattern: RegExp; path: string }[];
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // Each schema of the document is compiled once, not again in each schema that holds it.
    inlineRefs: false,
    code: { optimize: false },
    formats: { uuid: /^[0-9a-f-]{36}$/, 'date-time': time },
  });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.document = document;
    this.#ajv.addSchema(document, 'document');
    this.paths = Object.keys(document.paths)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }

  validator(path: string, method: string, status: number): ValidateFunction {
    const key = `${method} ${path} ${status}`;
    let validator = this.#validators.get(key);
    if (!validator) {
      const pointer = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema']
        .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/');
      validator = this.#ajv.compile({ $ref: `document#/${pointer}` });
      this.#validators.set(key, validator);
    }
    return validator;
  }
}

const bases = ['/api/v2', '/api/v1', '/app/api'] as const;
const schemasOfBases = new Map<string, Promise<Schemas>>();

/** The schemas of a base, from the first platform of this process that has a response from there. */
const schemasOf = (base: string, test: TestPlatform): Promise<Schemas> => {
  const schemas =
    schemasOfBases.get(base) ??
    test
      .as(undefined, base)
      .get('')
      .then(({ body }) => new Schemas(body));
  schemasOfBases.set(base, schemas);
  // The next platform tries again.
  schemas.catch(() => schemasOfBases.delete(base));
  return schemas;
};

/** Checks responses against the OpenAPI document: the operation's status, its body, and no field more. */
export class Contract {
  readonly seen = new Set<string>();
  readonly #schemas: () => Promise<Schemas>;

  constructor(schemas: () => Promise<Schemas>) {
    this.#schemas = schemas;
  }

  async #check(method: string, url: string, response: ClientResponse): Promise<void> {
    const schemas = await this.#schemas();
    const path = schemas.paths.find(({ pattern }) => pattern.test(url.split('?')[0]!))?.path;
    const operation = path && schemas.document.paths[path][method.toLowerCase()];
    if (!operation) return;
    const where = `${method} ${url} → ${response.status} ${response.text.slice(0, 500)}`;
    this.seen.add(`${operation.operationId} ${response.status}`);
    expect(Object.keys(operation.responses), where).toContain(String(response.status));
    const types = Object.keys(operation.responses[response.status].content ?? {});
    if (types.length === 0) {
      expect(response.text, where).toBe('');
      return;
    }
    // A download.
    if (types.includes('*/*')) return;
    if (!types.includes('application/json')) {
      expect(types, where).toContain(response.headers.get('content-type'));
      return;
    }
    if (types.includes('text/event-stream') && response.headers.get('content-type') === 'text/event-stream')
      return;
    if (
      types.includes('application/yaml') &&
      response.headers.get('content-type') === 'application/yaml; charset=utf-8'
    )
      return;
    // A page for browsers.
    if (types.includes('text/html') && response.headers.get('content-type') === 'text/html; charset=utf-8')
      return;
    expect(response.headers.get('content-type'), where).toBe('application/json; charset=utf-8');
    const validate = schemas.validator(path, method.toLowerCase(), response.status);
    expect(validate(response.body) ? null : validate.errors, where).toBeNull();
  }

  /** Returns `inner` with each of its responses checked. */
  client(inner: Client): Client {
    const checked = async (
      method: string,
      path: string,
      response: Promise<ClientResponse>,
    ): Promise<ClientResponse> => {
      const got = await response;
      await this.#check(method, path, got);
      return got;
    };
    return {
      get: (path, options) => checked('GET', path, inner.get(path, options)),
      post: (path, body, options) => checked('POST', path, inner.post(path, body, options)),
      put: (path, body, options) => checked('PUT', path, inner.put(path, body, options)),
      patch: (path, body, options) => checked('PATCH', path, inner.patch(path, body, options)),
      delete: (path, options) => checked('DELETE', path, inner.delete(path, options)),
      raw: (method, path, body, options) => checked(method, path, inner.raw(method, path, body, options)),
    };
  }
}

/** The platform under test. Every response to its clients is checked against the OpenAPI document. */
export interface Fixture {
  test: TestPlatform;
  db: Database;
  dataDir: string;
  api: Client;
  app: Client;
  contract: Contract;
  /** Runs one statement, for what no endpoint can do. */
  sql(strings: TemplateStringsArray, ...values: unknown[]): Promise<Json[]>;
  as(key: string | undefined, base?: (typeof bases)[number]): Client;
}

export const startFixture = async (
  database: (typeof databases)[number],
  env: Record<string, string> = {},
): Promise<Fixture> => {
  const test = await startTestPlatform(database, env);
  const contracts = new Map<string, Contract>();
  for (const base of bases) contracts.set(base, new Contract(() => schemasOf(base, test)));
  const as: Fixture['as'] = (key, base = '/api/v2') => contracts.get(base)!.client(test.as(key, base));
  return {
    test,
    db: test.platform.db,
    dataDir: test.dataDir,
    contract: contracts.get('/api/v2')!,
    api: contracts.get('/api/v2')!.client(test.api),
    app: contracts.get('/app/api')!.client(test.app),
    sql: async (strings, ...values) =>
      (await test.platform.db.run((reader) => sql(strings, ...values).execute(reader))).rows,
    as,
  };
};

/** Runs a block of tests on one platform. */
export const withPlatform = (
  database: (typeof databases)[number],
  tests: (at: () => Fixture) => void,
  env: Record<string, string> = {},
): void => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await startFixture(database, env);
  });
  afterAll(() => fixture?.test.stop());
  tests(() => fixture);
};

/**
 * Runs two replicas on one PostgreSQL database before the tests of the block, and hands them over. `more` resolves to
 * variables for both; a PORT among them is the first one's. The `env` that `use` gets starts another replica.
 */
export const useReplicas = (
  use: (a: Fixture, b: Fixture, env: Record<string, string>) => void,
  more: () => Promise<Record<string, string>> = async () => ({}),
): void => {
  let url: string;
  let replicas: Fixture[] = [];
  beforeAll(async () => {
    url = await createMigrated();
    const given = {
      ...(await more()),
      DATABASE_URL: url,
      ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
    };
    const env = { ...given, PORT: '0' };
    const [a, b] = await Promise.all([startFixture('embedded', given), startFixture('embedded', env)]);
    replicas = [a, b];
    use(a, b, env);
  });
  afterAll(async () => {
    await Promise.all(replicas.map(({ test }) => test.stop()));
    await dropDatabase(url);
  });
};

type DatabaseTests = (at: () => Fixture, database: (typeof databases)[number]) => void;

/** The databases of `onPostgres`: both execute the same statements, so only the long run takes the embedded one too. */
export const usualDatabases: readonly (typeof databases)[number][] = process.env.EVERY_DATABASE
  ? databases
  : ['postgres'];

const onEachOf = (
  some: readonly (typeof databases)[number][],
  tests: DatabaseTests,
  env: Record<string, string>,
): void =>
  describe.each(some)('on the %s database', (database) =>
    withPlatform(database, (at) => tests(at, database), env),
  );

/**
 * Runs the same tests on both databases (`testedDatabases`), each with a platform of its own: for what differs between them, such as
 * notifications, the bytes of files, and requests that wait for the one connection.
 */
export const onEachDatabase = (tests: DatabaseTests, env: Record<string, string> = {}): void =>
  onEachOf(testedDatabases, tests, env);

/**
 * Runs the tests on PostgreSQL, and in the long run on the embedded database too. Both refuse the same mistakes in
 * transactions, and the embedded one takes twice as long. The stores' own tests run on both, and the browser tests drive
 * the whole platform on the embedded one.
 */
export const onPostgres = (tests: DatabaseTests, env: Record<string, string> = {}): void =>
  onEachOf(usualDatabases, tests, env);

/** A named block of `onPostgres`. */
export const describeOnPostgres = (
  name: string,
  tests: DatabaseTests,
  env: Record<string, string> = {},
): void => {
  describe(name, () => onPostgres(tests, env));
};

const codes: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  412: 'precondition_failed',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
};

/**
 * Expects the error of `status`: exactly the keys of an error body, its code, a matching message and context fields.
 */
export const expectError = (
  response: Pick<ClientResponse, 'status' | 'body' | 'text'>,
  status: number,
  message: RegExp = /./,
  context: Record<string, unknown> = {},
): void => {
  expect(response.status, response.text).toBe(status);
  expect(Object.keys(response.body)).toEqual(['error']);
  const { error_id, code, message: text, details, ...rest } = response.body.error;
  expect(error_id).toMatch(uuid);
  expect(code).toBe(codes[status]);
  expect(text).toMatch(message);
  expect(text).not.toMatch(/select |insert |\bat .*\.ts|node_modules|\/src\//i);
  expect(rest).toEqual(context);
  if (status === 422) expect(details.length).toBeGreaterThan(0);
  for (const detail of details ?? []) {
    expect(detail).toEqual({ path: expect.any(String), message: expect.any(String) });
  }
};

/** The paths that an error's details name. */
export const faults = (response: ClientResponse): string[] =>
  (response.body.error.details ?? []).map((d: { path: string }) => d.path);

export const ok = async (response: Promise<ClientResponse>, status = 200): Promise<Json> => {
  const got = await response;
  expect(got.status, got.text).toBe(status);
  return got.body;
};

/** Makes an agent: a Worker agent unless `fields` says otherwise. */
export const newAgent = (fixture: Fixture, fields: object = {}): Promise<Json> =>
  ok(fixture.api.post('/agents', { name: 'tested', mode: 'worker', ...fields }));

export const newKey = async (
  fixture: Fixture,
  role: string,
  more: object = {},
  by = fixture.api,
): Promise<Json> => ok(by.post('/api-keys', { name: `a ${role}`, role, ...more }), 201);

/**
 * Makes a key that expires in a moment, and resolves to it and to what `use` made of it before. On a slow machine the
 * moment is longer.
 */
export const newExpiringKey = async <T>(
  fixture: Fixture,
  use: (key: Json) => Promise<T>,
  inMs = 700,
): Promise<{ used: T; expiresAt: number }> => {
  const expiresAt = Date.now() + inMs;
  const expires_at = new Date(expiresAt).toISOString();
  try {
    return { used: await use(await newKey(fixture, 'member', { expires_at })), expiresAt };
  } catch (error) {
    if (inMs > 10_000) throw error;
    return newExpiringKey(fixture, use, 2 * inMs);
  }
};

/** Repeats a request until one begins after `moment`, in milliseconds, and resolves to its status. */
export const statusAfter = async (moment: number, ask: () => Promise<ClientResponse>): Promise<number> => {
  for (;;) {
    const begun = Date.now();
    const { status } = await ask();
    if (begun > moment + 5) return status;
  }
};

export const newSchedule = async (
  fixture: Fixture,
  agentId: string,
  fields: object = {},
  options?: RequestOptions,
): Promise<Json> =>
  ok(
    fixture.api.post(`/agents/${agentId}/schedules`, { cron_expression: '0 9 * * 1-5', ...fields }, options),
  );

/** Runs one SQL statement that was put together before. */
export const query = async (fixture: Fixture, statement: ReturnType<typeof sql>): Promise<Json[]> =>
  (await fixture.db.run((reader) => statement.execute(reader))).rows;

export const setSettings = (fixture: Fixture, settings: object): Promise<Json> =>
  ok(fixture.api.patch('/advanced-settings', settings));
