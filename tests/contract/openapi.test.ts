import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withPlatform } from './fixture.ts';
import { bases, oneOfEach, operationsOf } from './operations-fixture.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: object;
  security?: unknown[];
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

/** Whether the body is a form and nothing else. */
const isForm = ({ requestBody }: Operation): boolean => {
  const content = (requestBody as { content?: object } | undefined)?.content ?? {};
  return 'multipart/form-data' in content && !('application/json' in content);
};

describe('the OpenAPI document', () =>
  withPlatform('postgres', (at) => {
    const documentOf = async (base: string) => (await at().test.as(undefined, base).get('')).body;
    const operations = async (): Promise<[string, Operation, string, string][]> => {
      const all: [string, Operation, string, string][] = [];
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        const { paths } = await documentOf(base);
        for (const [path, methods] of Object.entries<Record<string, Operation>>(paths)) {
          for (const [method, operation] of Object.entries(methods))
            all.push([`${method} ${base}${path}`, operation, path, method]);
        }
      }
      return all;
    };

    test('is OpenAPI 3.1, names the release, and says that it is alpha', async () => {
      const document = await documentOf('/api/v2');
      const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
      expect(document.openapi).toMatch(/^3\.1\./);
      expect(document.info.version).toBe(version);
      expect(`${document.info.summary} ${document.info.description}`).toMatch(/alpha/);
    });

    test('no schema has an empty object as its default: some generators of clients leave out the operations that use it', async () => {
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        expect(JSON.stringify(await documentOf(base))).not.toContain('"default":{}');
      }
    });

    test('every operation has a unique operationId, a summary, tags that are described, and its parameters', async () => {
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        const { paths, tags } = await documentOf(base);
        const ids = Object.values<Record<string, Operation>>(paths).flatMap((one) =>
          Object.values(one).map((o) => o.operationId),
        );
        expect(new Set(ids).size).toBe(ids.length);
        for (const tag of tags) expect(tag.description, tag.name).toMatch(/./);
      }
      for (const [name, operation, path] of await operations()) {
        expect(operation.operationId, name).toMatch(/^[a-z][A-Za-z]+$/);
        expect(operation.summary, name).toMatch(/^[A-Z]/);
        expect(operation.tags.length, name).toBe(1);
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
        expect(
          (operation.parameters ?? []).filter((p) => p.in === 'path').map((p) => p.name),
          name,
        ).toEqual(inPath);
      }
    });

    test('every operation names each status that it can respond with, and the schema of its body', async () => {
      for (const [name, operation, path, method] of await operations()) {
        // They speak protocols of their own.
        if (['sendTraces', 'callAgent'].includes(operation.operationId)) continue;
        const statuses = Object.keys(operation.responses);
        // A stream may also have nothing to send.
        const isStream =
          /\/(conversations|work-items)\/\{\w+\}\/stream$/.test(name) && name.startsWith('get');
        const successes = statuses.filter((status) => status < '400' && status !== '304');
        // Or it may send a part of the content, or accept what it does later.
        // Or it names the keys that a deletion ended.
        const endsKeys = ['deleteApiKey', 'deleteUser'].includes(operation.operationId);
        const hasTwo = isStream || endsKeys || statuses.includes('206') || statuses.includes('202');
        expect(successes.length, name).toBe(hasTwo ? 2 : 1);
        const refusals = operation.security?.length === 0 ? ['429'] : ['401', '403', '429'];
        expect(statuses, name).toEqual(expect.arrayContaining([...refusals, '500', '503']));
        if (path.includes('{')) expect(statuses, name).toContain('404');
        // What a form with a file lacks or has too much of is a 400.
        const checked = isForm(operation) ? ['400'] : ['400', '422'];
        if (operation.requestBody) expect(statuses, name).toEqual(expect.arrayContaining(checked));
        // A browser that is sent somewhere brings any query.
        const checksQuery = operation.parameters?.some((p) => p.in === 'query') && !statuses.includes('303');
        if (checksQuery) expect(statuses, name).toContain('422');
        if (/schedules/.test(path)) expect(statuses, name).toContain('400');
        if (method === 'delete') expect(statuses, name).toContain('204');
        for (const [status, { content, description }] of Object.entries(operation.responses)) {
          expect(description, name).toMatch(/./);
          const bodyless = operation.operationId === 'backChannelLogout' ? '200' : '204 303 304';
          if (bodyless.includes(status) || status === '416') expect(content, name).toBeUndefined();
          else if (status >= '400') {
            expect(content?.['application/json']?.schema, name).toEqual({
              $ref: '#/components/schemas/Error',
            });
          } else expect(Object.values(content ?? {})[0]?.schema, name).toBeDefined();
        }
      }
    });

    test('has the operations and success statuses of the product description', async () => {
      const { paths } = await documentOf('/api/v2');
      const integrations = '/observability/integrations';
      const schedules = '/agents/{agent_id}/schedules';
      for (const [method, path, status] of [
        ['get', integrations, 200],
        ['post', integrations, 201],
        ['get', `${integrations}/{integration_id}`, 200],
        ['put', `${integrations}/{integration_id}`, 200],
        ['patch', `${integrations}/{integration_id}`, 200],
        ['delete', `${integrations}/{integration_id}`, 204],
        ['get', `${integrations}/{integration_id}/scopes`, 200],
        ['post', `${integrations}/{integration_id}/scopes`, 201],
        ['delete', `${integrations}/{integration_id}/scopes`, 204],
        ['get', schedules, 200],
        ['post', schedules, 200],
        ['get', `${schedules}/{schedule_id}`, 200],
        ['put', `${schedules}/{schedule_id}`, 200],
        ['delete', `${schedules}/{schedule_id}`, 204],
        ['post', '/api-keys', 201],
      ] as const) {
        expect(Object.keys(paths[path]?.[method]?.responses ?? {}), `${method} ${path}`).toContain(
          String(status),
        );
      }
    });

    test('has the schemas and fields of the product description', async () => {
      const { schemas } = (await documentOf('/api/v2')).components;
      const fields = (name: string) => Object.keys(schemas[name].properties).sort();
      const schedule =
        'agent_id catch_up created_at cron_expression enabled id last_run_at message metadata next_run_at overlap payload timezone updated_at work_item_name';
      expect(fields('PublicSchedule')).toEqual(schedule.split(' '));
      const integration =
        'created_at debug description id is_system kind resolved_url settings updated_at version';
      expect(fields('PublicObservabilityIntegration')).toEqual(integration.split(' '));
      expect(fields('SchedulePage')).toEqual(['data', 'has_more', 'next']);
      expect(fields('WorkItemPage')).toEqual(['next_offset', 'records', 'total_count']);
      expect(fields('AgentPage')).toEqual(['data', 'has_more', 'next']);
      expect(schemas.PublicSchedule.required.sort()).toEqual(schedule.split(' '));
    });

    test('bodies name what is required, and the defaults of the rest', async () => {
      const { paths, components } = await documentOf('/api/v2');
      const body = (path: string, method: string) => {
        const { schema } = paths[path][method].requestBody.content['application/json'];
        return schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema;
      };
      expect(body('/agents/{agent_id}/schedules', 'post').required).toEqual(['cron_expression']);
      expect(body('/agents/{agent_id}/schedules/{schedule_id}', 'put').required).toEqual(['cron_expression']);
      expect(body('/observability/integrations', 'post').required.sort()).toEqual(['settings', 'version']);
      expect(body('/observability/integrations/{integration_id}', 'put').required ?? []).toEqual([]);
      expect(body('/agents', 'post').required.sort()).toEqual(['mode', 'name']);
      const defaults = (path: string, method: string) =>
        Object.entries<{ default?: unknown }>(body(path, method).properties).flatMap(([name, field]) =>
          'default' in field ? [[name, field.default]] : [],
        );
      const ofSchedule = { timezone: 'UTC', catch_up: true, overlap: 'queue', message: '' };
      expect(Object.fromEntries(defaults('/agents/{agent_id}/schedules', 'post'))).toEqual(ofSchedule);
      expect(Object.fromEntries(defaults('/observability/integrations', 'post'))).toEqual({
        is_system: false,
        debug: false,
      });
    });

    const inFull = test.skipIf(process.env.SMALL_SAMPLES);
    inFull(
      'every operation exists as it is described, and its responses match their schemas',
      async () => {
        await using one = await oneOfEach(at());
        for (const operation of await operationsOf(at(), bases)) {
          const { id, method, base, path, bodies } = operation;
          const address = one.address(operation);
          // Whether there is a result depends on what its agent has done by then.
          if (method === 'GET' && !path.endsWith('/result')) {
            // What a query must have.
            const needed: Record<string, string> = {
              at: '2026-01-31T08:00:00Z',
              than: one.known.work_item_id!,
              with: one.known.experiment_id!,
              llm_id: one.known.llm_id!,
              model: 'mock',
              q: 'x',
            };
            const required = operation.query.filter(({ required }) => required);
            // One of two is required.
            const query =
              id === 'explainTrigger'
                ? `at=${needed.at}`
                : required.map(({ name }) => `${name}=${needed[name]}`).join('&');
            const headers = { accept: 'application/json' };
            const response = await one.client(operation).get(`${address}?${query}`, { headers });
            // A new log has no checkpoint, and this platform no identity provider.
            const isMissing = /\/audits\/checkpoint$|\/sign-in$|\/sign-in\/callback$/.test(path);
            // No run is in progress.
            const isIdle = path.endsWith('/conversations/{conversation_id}/stream');
            const status = isMissing ? 404 : isIdle ? 204 : 200;
            expect(response.status, `${base}${path} ${response.text}`).toBe(status);
          }
          // The first takes protobuf, the second a form, the third JSON-RPC.
          if (['sendTraces', 'backChannelLogout', 'callAgent'].includes(id)) continue;
          if (method === 'GET' || method === 'DELETE') continue;
          const takesJson = bodies.includes('application/json');
          const faulty = bodies.length === 0 ? [200, 412] : takesJson ? [422] : [400];
          for (const [body, statuses] of [
            ['{', bodies.length === 0 ? [200, 412] : [400]],
            ['[]', faulty],
          ] as const) {
            const headers = { 'content-type': 'application/json' };
            const response = await one.client(operation).raw(method, address, body, { headers });
            expect(statuses, `${method} ${path} ${body} ${response.text}`).toContain(response.status);
          }
        }
        const seen = new Set([...at().contract.seen].map((one) => one.split(' ')[0]));
        const unseen = Object.values<Record<string, Operation>>((await documentOf('/api/v2')).paths)
          .flatMap((methods) => Object.entries(methods))
          .filter(([method, { operationId }]) => method !== 'delete' && !seen.has(operationId))
          .map(([, { operationId }]) => operationId);
        expect(unseen).toEqual(['sendTraces']);
      },
      240_000,
    );
  }));
