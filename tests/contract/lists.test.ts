import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { upload } from './files-fixture.ts';
import { expectError, type Fixture, faults, newAgent, newKey, ok, withPlatform } from './fixture.ts';
import {
  newReview,
  type Operation,
  oneOfEach,
  operationsOf,
  type Resources,
  type Schema,
} from './operations-fixture.ts';
import { newHook, send as sendEvent } from './triggers-fixture.ts';

/** Values that a parameter of this schema does not take, as they stand in an address. */
const refusedBy = ({ type, minimum, maximum, enum: words, maxLength, format, pattern }: Schema): string[] => {
  if (type === 'integer') {
    const bounds = [minimum - 1, ...(maximum === undefined ? [] : [maximum + 1])];
    return [...bounds.map(String), '1.5', '', 'x', '1e2', '%20', '0x1', '9'.repeat(20)];
  }
  if (words) return ['no-such-value', ''];
  if (format === 'date-time')
    return ['yesterday', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', '', '1767225600'];
  if (pattern) return ['x', 'x'.repeat(64)];
  return [...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]), 'a%00', '%00'];
};

/** The ends of the range of a number, and all words. */
const takenBy = ({ type, minimum, maximum = minimum + 7, enum: words = [] }: Schema): string[] =>
  type === 'integer' ? [`${minimum}`, `${maximum}`] : words;

/** Parameters that need another one. */
const pairs: Record<string, string> = { position: 'hash', hash: 'position', agent_version: 'agent_id' };

const unique = () => `${Math.random()}`.slice(2);
const anAgent = (at: Fixture) => newAgent(at);
const aKey = (at: Fixture) => newKey(at, 'member');
const aFile = (at: Fixture, path: string) => upload(at.api, path.replace(/\/files$/, ''), 'a.csv', 'a\n1');
/** One more experiment of the agent and the dataset of the newest one. */
const newExperiment = async ({ api }: Fixture) => {
  const [{ agent_id, dataset_id }] = (await ok(api.get('/experiments'))).data;
  return ok(api.post('/experiments', { agent_id, dataset_id }));
};
const posted =
  (body: () => object, by: (at: Fixture) => Client = (at) => at.api, status = 200) =>
  (at: Fixture, path: string) =>
    ok(by(at).post(path, body()), status);

const anAlertRule = posted(() => ({ name: unique(), kind: 'missed' }));

/** Makes one more record of the list of an operation. */
const additions: Record<string, (at: Fixture, path: string) => Promise<unknown>> = {
  listAgents: anAgent,
  listAgentSummaries: anAgent,
  listConversations: posted(() => ({})),
  listLlmConfigurations: posted(() => ({ kind: 'mock', name: 'm', model: 'mock' })),
  listPrices: posted(() => ({ model: 'm', rates: { input: 1, output: 2 } })),
  listAllTriggers: (at) => newHook(at),
  listTriggerEvents: async (at, path) => {
    const trigger = path.replace(/\/events$/, '');
    const { url, secret } = await ok(at.api.post(`${trigger}/rotate-secret`, {}));
    await sendEvent({ url, secret }, {});
  },
  listToolServers: posted(() => ({ name: 's', url: 'http://127.0.0.1:1/mcp' })),
  listUsers: posted(() => ({ email: `${unique()}@example.com`, role: 'member' })),
  listRoleMappings: posted(() => ({ claim: 'groups', value: unique(), role: 'member' })),
  listApiKeys: aKey,
  listNamedApiKeys: aKey,
  listAudits: anAgent,
  listAuditEntries: anAgent,
  listConversationFiles: aFile,
  listWorkItemFiles: aFile,
  listBudgets: posted(() => ({
    name: unique(),
    scope: { kind: 'workspace' },
    unit: 'tokens',
    limit: 9e15,
    period: 'day',
  })),
  listAlertRules: anAlertRule,
  listNamedAlertRules: anAlertRule,
  listEventConnections: posted(() => ({
    name: unique(),
    kind: 'nats',
    settings: { servers: ['127.0.0.1:9'] },
  })),
  listChannels: posted(() => ({ name: unique(), kind: 'webhook', url: 'http://127.0.0.1:9/' })),
  listRoutes: async (at) => {
    const [{ id }] = (await ok(at.api.get('/channels'))).data;
    await ok(
      at.api.post('/routes', { name: unique(), for: 'alerts', steps: [{ channel_id: id, to: 'channel' }] }),
    );
  },
  listDatasets: posted(() => ({ name: unique() })),
  listExperiments: (at) => newExperiment(at),
  listNamedExperiments: (at) => newExperiment(at),
  listReviews: (at) => newReview(at),
  listCases: posted(() => ({ name: unique(), input: { message: '' } })),
  listSessions: posted(
    () => ({ api_key: adminKey }),
    (at) => at.as(undefined, '/app/api'),
  ),
};

describe('lists', () =>
  withPlatform('postgres', (at) => {
    let one: Resources;
    let operations: Operation[];
    beforeAll(async () => {
      one = await oneOfEach(at());
      operations = (await operationsOf(at())).filter(
        // A browser that is sent somewhere brings any query.
        ({ id, method, query }) =>
          method === 'GET' && query.length > 0 && !['startSignIn', 'finishSignIn'].includes(id),
      );
    }, 240_000);
    afterAll(() => one?.[Symbol.asyncDispose]());

    const get = (operation: Operation, asked: string) => {
      let query = asked;
      const given = query.split('=', 1)[0]!;
      const values: Record<string, string> = {
        at: '2026-01-31T08:00:00Z',
        than: one.known.work_item_id!,
        q: 'x',
        agent_id: one.known.agent_id!,
        llm_id: one.known.llm_id!,
        with: one.known.experiment_id!,
        position: '1',
        hash: '0'.repeat(64),
      };
      const needed = operation.query.filter(
        ({ name, required }) => name !== given && (required || name === pairs[given]),
      );
      // One of two is required.
      if (operation.id === 'explainTrigger' && given !== 'at' && given !== 'event_id') query += '&event_id=x';
      const address = `${one.address(operation)}?${[query, ...needed.map(({ name }) => `${name}=${values[name]}`)].join('&')}`;
      return one.client(operation).get(address, { headers: { accept: 'application/json' } });
    };
    const eachParameter = async (
      use: (operation: Operation, name: string, schema: Schema) => Promise<void>,
    ) => {
      for (const operation of operations) {
        for (const { name, schema } of operation.query) await use(operation, name, schema);
      }
    };

    test(
      'a query parameter with a value that it does not take, or that is given twice, is 422 and named',
      () =>
        eachParameter(async (operation, name, schema) => {
          const wrong = refusedBy(schema).map((value) => `${name}=${value}`);
          if (name === 'next') wrong.push('next=garbage', 'next=%00');
          if (schema.type !== 'array') wrong.push(`${name}=1&${name}=1`);
          for (const query of wrong) {
            const response = await get(operation, query);
            expect([operation.id, query, response.status]).toEqual([operation.id, query, 422]);
            expectError(response, 422);
            expect(faults(response), `${operation.id} ${query}`).toEqual([name]);
          }
        }),
      240_000,
    );

    test('a query parameter takes the ends of its range, and each of its words; others are ignored', async () => {
      const check = async (operation: Operation, query: string) => {
        const { status, text } = await get(operation, query);
        expect(status, `${operation.id} ${query} ${text}`).toBeLessThan(400);
      };
      await eachParameter(async (operation, name, schema) => {
        for (const value of takenBy(schema)) await check(operation, `${name}=${value}`);
      });
      // A stream stays open.
      for (const operation of operations.filter(({ path }) => !path.endsWith('/stream')))
        await check(operation, 'no_such_parameter=1&no_such_parameter=2');
    }, 240_000);

    test.each(Object.keys(additions))(
      'the pages of %s have each record once, newest first, whatever is made in the meantime',
      async (id) => {
        const operation = operations.find((one) => one.id === id)!;
        const add = () => additions[id]!(at(), one.address(operation));
        const page = async (query: string) => {
          const { data, has_more, next } = await ok(get(operation, query));
          expect(has_more).toBe(next !== '');
          return { ids: data.map((record: Schema) => record.id), next };
        };
        for (let n = 0; n < 4; n++) await add();
        const { ids } = await page('limit=200');
        await add();
        const walk: string[] = [];
        let next = '';
        for (let limit = 2; limit === 2 || next !== ''; limit++) {
          const got = await page(`limit=${limit}&next=${next}`);
          if (got.next !== '') expect(got.ids).toHaveLength(limit);
          walk.push(...got.ids);
          next = got.next;
          if (limit < 4) await add();
        }
        expect(new Set(walk).size).toBe(walk.length);
        // What was made after the first page is not in the walk, and what was made before it comes first.
        expect(walk.indexOf(ids[0])).toBeGreaterThan(0);
        expect(walk.slice(walk.indexOf(ids[0]))).toEqual(ids);
        // A page that ends where the list ends is the last one.
        const whole = await page('limit=200');
        expect(await page(`limit=${whole.ids.length}`)).toEqual(whole);
      },
    );
  }));
