import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { expectError, newAgent, unknownId, withPlatform } from './fixture.ts';

describe('addresses', () =>
  withPlatform('postgres', (at) => {
    const send = (method: string, path: string, key?: string) => at().test.as(key, '').raw(method, path);

    test.each([
      '/api/v2',
      '/api/v2/',
      '/api/v2//',
      '/api/v2?x=1',
      '/api/v1',
      '/api/v1/',
      '/app/api',
      '/app/api/',
      '/acme/api/v2',
      '/acme/api/v2/',
      '/tenants/acme/api/v2',
      '/tenants/acme/api/v1/',
      '/ac%20me/api/v2',
      '/api/api/v2',
      '/tenants/api/api/v2',
    ])('GET %s serves the specification without a key, and with a wrong one', async (path) => {
      for (const key of [undefined, 'wrong']) {
        const response = await send('GET', path, key);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(response.body.openapi).toMatch(/^3\.1\.\d$/);
      }
    });

    test('each version has a document of its own, which names the server address that served it', async () => {
      const { origin, as } = at().test;
      for (const base of ['/api/v2', '/api/v1', '/app/api']) {
        const { body } = await as(undefined, base).get('');
        expect(body.servers).toEqual([{ url: origin + base }]);
      }
    });

    test.each([
      '/app/api/v2',
      '/tenants/api/v2',
      '/tenants/app/api/v2',
      '/tenants/tenants/api/v2',
      '/a/b/api/v2',
      '/api/v3',
      '/api',
      '/nothing',
    ])('%s is not a base: 404', async (path) => {
      const response = await send('GET', path, adminKey);
      expectError(response, 404);
    });

    test.each(['', '/acme', '/tenants/acme', '/%61cme'])(
      'the prefix "%s" reaches the same handlers',
      async (prefix) => {
        const agent = await newAgent(at());
        for (const version of ['v1', 'v2']) {
          const one = await send('GET', `${prefix}/api/${version}/agents/${agent.id}/`, adminKey);
          expect([one.status, one.body]).toEqual([200, agent]);
          expectError(await send('GET', `${prefix}/api/${version}/agents/${agent.id}`), 401);
        }
      },
    );

    test('trailing slashes are accepted without redirect, with a query too', async () => {
      expect((await send('GET', '/api/v2/agents/?limit=1', adminKey)).status).toBe(200);
      expect((await send('GET', '/api/v2/agents///', adminKey)).status).toBe(200);
      expectError(await send('GET', '/api/v2/agents/?limit=0', adminKey), 422);
    });

    test.each([
      ['GET', '/api/v2/nothing'],
      ['GET', '/api/v1/nothing/at/all'],
      ['GET', '/app/api/nothing'],
      ['GET', '/acme/api/v2/nothing'],
      ['PUT', '/api/v2/agents'],
      ['DELETE', '/api/v2'],
      ['POST', '/app/api'],
      ['OPTIONS', '/api/v2/agents'],
      ['PROPFIND', '/api/v2/agents'],
      ['QUERY', '/api/v2/agents'],
      ['GET', '/api/v2/%zz'],
      ['POST', `/api/v1/work-items/${unknownId}/cancel`],
    ])('%s %s is 401 without a key, else 404', async (method, path) => {
      expectError(await send(method, path), 401);
      expectError(await send(method, path, 'wrong'), 401);
      expectError(await send(method, path, adminKey), 404);
    });

    test('an unknown method is 404 with the methods that exist', async () => {
      expectError(await send('PUT', '/api/v2/agents', adminKey), 404, /PUT.*GET, POST/);
      expectError(await send('POST', `/api/v2/agents/${unknownId}`, adminKey), 404, /GET, PATCH, DELETE/);
      expectError(await send('PATCH', `/api/v2/agents/x/schedules/y`, adminKey), 404, /GET, PUT, DELETE/);
      expectError(await send('POST', '/api/v2', adminKey), 404, /GET/);
    });

    test('HEAD is GET without the body', async () => {
      for (const path of ['/api/v2', '/api/v2/agents', '/healthz']) {
        const [head, get] = [await send('HEAD', path, adminKey), await send('GET', path, adminKey)];
        expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
          200,
          '',
          get.headers.get('content-length'),
        ]);
      }
      expect((await send('HEAD', '/api/v2/agents')).status).toBe(401);
      expect((await send('HEAD', `/api/v2/agents/${unknownId}`, adminKey)).status).toBe(404);
    });

    test.each([
      'x',
      '%',
      '%zz',
      '%00',
      '%ED%A0%80',
      '..%2f..%2fetc',
      "'; drop table agents; --",
      '%F0%9F%98%80',
      'a'.repeat(5_000),
      unknownId,
      unknownId.toUpperCase(),
      `${unknownId}0`,
      `{${unknownId}}`,
    ])('the id %s is unknown: 404, without further effect', async (id) => {
      expectError(await at().api.get(`/agents/${id}`), 404, /^The agent does not exist\.$/);
    });

    test('an id in capitals is the same id', async () => {
      const { api } = at();
      const agent = await newAgent(at());
      expect((await api.get(`/agents/${agent.id.toUpperCase()}`)).body).toEqual(agent);
    });

    test('a url of 100,000 characters gets an error body and harms nothing', async () => {
      const response = await send('GET', `/api/v2/agents/${'a'.repeat(100_000)}`, adminKey);
      expectError(response, 400);
      expect((await send('GET', '/api/v2/agents', adminKey)).status).toBe(200);
    });

    test('richer Work Item operations exist under v2 only', async () => {
      const v1 = at().test.as(adminKey, '/api/v1');
      for (const action of ['submit', 'continue', 'restart', 'cancel', 'complete']) {
        expectError(await v1.post(`/work-items/${unknownId}/${action}`), 404, /nothing at this path/);
        expectError(
          await at().api.post(`/work-items/${unknownId}/${action}`),
          404,
          /Work Item does not exist/,
        );
      }
      for (const below of ['events', 'messages', 'trace']) {
        expectError(await v1.get(`/work-items/${unknownId}/${below}`), 404, /nothing at this path/);
        expectError(await at().api.get(`/work-items/${unknownId}/${below}`), 404, /Work Item does not exist/);
      }
      expect((await v1.get('/work-items')).status).toBe(200);
    });

    test('every other v1 operation exists under v2 as well', async () => {
      const paths = async (base: string) => (await at().test.as(undefined, base).get('')).body.paths;
      const [v1, v2] = [await paths('/api/v1'), await paths('/api/v2')];
      const { '/agents/{agent_id}/mcp': _toolProtocol, ...shared } = v1;
      for (const [path, operations] of Object.entries(shared))
        expect(v2[path], path).toMatchObject(operations as object);
      const more = Object.keys(v2).filter((path) => !(path in v1));
      // What only v2 has: actions on Work Items, data and event connections, files with their tables, versions of agents,
      // evaluation, charges with costs, prices and budgets, traces, triggers, and alerts.
      const onlyV2 =
        /^\/(alerts|alert-rules|budgets|channels|reviews|routes|charges$|costs|work-items\/|data-connections|event-connections|datasets|experiments|traces|prices|judges|agents\/\{agent_id\}\/(conversations\/|triggers|versions|draft|publish|publications|rollback|canary))/;
      expect(more.filter((path) => !onlyV2.test(path))).toEqual([]);
    });

    test('health, readiness and metrics need no key', async () => {
      expect((await send('GET', '/healthz')).status).toBe(200);
      expect((await send('GET', '/readyz')).status).toBe(200);
      const metrics = await send('GET', '/metrics');
      expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/plain'),
      ]);
    });
  }));
