import { describe, expect, test } from 'vitest';
import { rawRequest } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { requiredRoles } from '../harness/services.ts';
import { until } from '../harness/wait.ts';
import { expectError, newAgent, newKey, ok, setSettings, unknownId, withPlatform } from './fixture.ts';
import { bases, operationsOf } from './operations-fixture.ts';

describe('authentication', () =>
  withPlatform('postgres', (at) => {
    const get = (authorization: string | null) => at().api.get('/agents', { headers: { authorization } });

    test.each([
      ['none', null],
      ['an empty one', 'Bearer'],
      ['a blank one', 'Bearer  '],
      ['another scheme', `Basic ${Buffer.from(`x:${adminKey}`).toString('base64')}`],
      ['no scheme', adminKey],
      ['more than a key', `Bearer ${adminKey} x`],
      ['a wrong key', 'Bearer wrong'],
      ['a key of the right form', `Bearer ap_${'a'.repeat(49)}`],
      ['a part of the key', `Bearer ${adminKey.slice(0, -1)}`],
      ['the key in other case', `Bearer ${adminKey.toUpperCase()}`],
      ['20,000 characters', `Bearer ${'x'.repeat(10_000)}`],
    ])('%s is 401', async (_what, header) => {
      const response = await get(header);
      expectError(response, 401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    });

    test('the scheme may have any case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) await ok(get(`${scheme} ${adminKey}`));
    });

    test('a key in the query or in another header does not count', async () => {
      expectError(
        await at().test.as(undefined).get(`/agents?api_key=${adminKey}&access_token=${adminKey}`),
        401,
      );
      expectError(
        await at().api.get('/agents', { headers: { authorization: null, 'x-api-key': adminKey } }),
        401,
      );
    });

    test('a request with two Authorization headers, the first of them wrong, is refused', async () => {
      const { port } = at().test.platform;
      const two = await rawRequest(
        port,
        `GET /api/v2/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nAuthorization: Bearer ${adminKey}\r\n\r\n`,
      );
      expect(two.status).toBe(401);
    });

    test('401 comes before 403, 403 before 404, and 404 before what is wrong with the body', async () => {
      const member = at().as((await newKey(at(), 'member')).value);
      const path = `/agents/${unknownId}/schedules`;
      expectError(await at().as(undefined).raw('POST', path, '{'), 401);
      expectError(await member.raw('POST', path, '{'), 403);
      expectError(await at().api.raw('POST', path, '{'), 404);
      const { id } = await newAgent(at(), { mode: 'conversational' });
      expectError(await at().api.raw('POST', `/agents/${id}/schedules`, '{'), 400, /worker agents/);
      expectError(await at().api.put(`/agents/${id}/schedules/${unknownId}`, {}), 400, /worker agents/);
      const worker = await newAgent(at());
      expectError(
        await at().api.raw('PUT', `/agents/${worker.id}/schedules/${unknownId}`, '{'),
        404,
        /schedule/,
      );
      expectError(await member.get('/observability/integrations/x'), 403);
    });
  }));

describe('roles', () =>
  withPlatform('postgres', (at) => {
    // Which roles get 403 is in permissions.test.ts.
    test('every operation is 401 without a key unless it is for anyone, names its role, and no one stores who has access', async () => {
      const showsAccess = /^\/(api-keys|users|role-mappings|audits|sessions|sign-in|sign-out)/;
      const anyone = at().test.as(undefined, '');
      const tried = new Set<string>();
      for (const { id, method, base, path, requiredRole } of await operationsOf(at(), bases)) {
        if (id === 'sendTraces') continue;
        tried.add(id);
        const isForAnyone = requiredRoles[id] === 'anyone';
        expect(requiredRole, id).toBe(isForAnyone ? undefined : requiredRoles[id]);
        // The bucket of requests without a key is full again.
        at().test.clock.advance(1_000);
        const { status, headers } = await anyone.raw(method, base + path.replace(/\{\w+\}/g, 'x'));
        if (showsAccess.test(path)) expect(headers.get('cache-control'), path).toBe('no-store');
        if (isForAnyone) expect([401, 403], id).not.toContain(status);
        else expect(status, `${method} ${base}${path}`).toBe(401);
      }
      expect([...tried, 'sendTraces'].sort()).toEqual(Object.keys(requiredRoles).sort());
    });

    test.each([
      [
        'admin',
        /Observability|(?<!Connection)Settings|Audits|^(create|update|delete|set|test).*Llm|LlmDefaults/,
      ],
      [
        'builder',
        /^(create|update|replace|delete|pause|resume|run)(Agent|Schedule)$|^(get|list)LlmConfigurations?$|^(claim|heartbeat|finish|delete)WorkItems?$/,
      ],
      [
        'member',
        /^(get|list)(Agents?|Schedules?|Occurrences)$|^previewSchedule$|^(?!(claim|heartbeat|finish|delete)WorkItems?$).*WorkItem|ApiKey/,
      ],
    ])('%s may call exactly the operations that the product gives this role', (role, operations) => {
      const named = Object.keys(requiredRoles).filter((operation) => operations.test(operation));
      expect(named.length).toBeGreaterThan(5);
      for (const operation of named) expect([operation, requiredRoles[operation]]).toEqual([operation, role]);
    });

    test('a refusal by role is in the audit log', async () => {
      const { id, value } = await newKey(at(), 'member');
      expectError(
        await at()
          .as(value)
          .get('/audits', { headers: { 'x-request-id': 'refused-1' } }),
        403,
        /admin.*member/,
      );
      const row = await until(
        async () => (await ok(at().api.get(`/audits?principal_id=${id}&outcome=refused`))).data[0],
      );
      expect(row).toMatchObject({
        action: 'listAudits',
        outcome: 'refused',
        request_id: 'refused-1',
        principal: { id },
      });
    });
  }));

describe('a trusted proxy', () =>
  withPlatform(
    'postgres',
    (at) => {
      test('names the address that failed authentication is counted for', async () => {
        const fail = (from: string) =>
          at().api.get('/agents', { headers: { authorization: 'Bearer wrong', 'x-forwarded-for': from } });
        const first = await Promise.all(Array.from({ length: 500 }, () => fail('192.0.2.1')));
        expect(first.some(({ status }) => status === 429)).toBe(true);
        expect((await fail('192.0.2.2')).status).toBe(401);
      });
    },
    { TRUST_PROXY: '127.0.0.0/8' },
  ));

describe('rate limits', () =>
  withPlatform('postgres', (at) => {
    test('a key over its burst gets 429 with Retry-After; other keys do not, and a moment later it does not either', async () => {
      const { value } = await newKey(at(), 'member');
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1, RATE_LIMIT_BURST: 5 });
      const responses = [];
      for (let n = 0; n < 7; n++) responses.push(await at().as(value).get('/agents'));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expectError(responses[6]!, 429);
      expect(responses[6]!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(responses[0]!.headers.get('ratelimit-policy')).toBe('"default";q=5;w=5');
      expect(responses[0]!.headers.get('ratelimit')).toMatch(/^"default";r=4;t=\d+$/);
      expect(responses[6]!.headers.get('ratelimit')).toMatch(/^"default";r=0;t=[1-9]\d*$/);
      expect((await at().api.get('/agents')).status).toBe(200);
      at().test.clock.advance(Number(responses[6]!.headers.get('retry-after')) * 1000);
      expect((await at().as(value).get('/agents')).status).toBe(200);
      at().test.clock.advance(60_000);
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 0 });
      const free = await Promise.all(Array.from({ length: 30 }, () => at().as(value).get('/agents')));
      expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]));
      expect(free[0]!.headers.get('ratelimit')).toBeNull();
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1_000, RATE_LIMIT_BURST: 2_000 });
    });

    test('the keys that a key made share one and a half times its limit, and another account has its own', async () => {
      const first = await newKey(at(), 'member');
      const more = [];
      for (let n = 0; n < 3; n++) more.push(await newKey(at(), 'member', {}, at().as(first.value)));
      const other = await newKey(at(), 'member');
      at().test.clock.advance(60_000);
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1, RATE_LIMIT_BURST: 6 });
      const statuses = [];
      for (const { value } of [first, ...more]) {
        for (let n = 0; n < 4; n++) statuses.push((await at().as(value).get('/agents')).status);
      }
      expect(statuses).toEqual([...Array(9).fill(200), ...Array(7).fill(429)]);
      expectError(await at().as(more[2].value).get('/agents'), 429, /all API keys of one person/);
      await ok(at().as(other.value).get('/agents'));
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1_000, RATE_LIMIT_BURST: 2_000 });
    });

    test('failed authentication is throttled after 200 attempts, and a valid key from the same address is never refused', async () => {
      at().test.clock.advance(60_000);
      const statuses: number[] = [];
      // A client that is not a trusted proxy cannot say where a request comes from.
      const fail = () =>
        at()
          .test.as('wrong')
          .get('/agents', { headers: { 'x-forwarded-for': `192.0.2.${statuses.length}` } });
      // The bucket gains 10 a second in the meantime, so a slow machine needs more requests.
      while (!statuses.includes(429) && statuses.length < 2_000) statuses.push((await fail()).status);
      expect(statuses.slice(0, 200).every((status) => status === 401)).toBe(true);
      expect(statuses).toContain(429);
      const refused = await until(async () => {
        const response = await fail();
        return response.status === 429 && response;
      });
      expectError(refused, 429);
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect((await at().api.get('/agents')).status).toBe(200);
      expect((await at().test.as(undefined).get('')).status).toBe(200);
      at().test.clock.advance(1_000);
      expect((await fail()).status).toBe(401);
    });

    test('the OpenAPI documents, which need no key, are throttled after 1,000 requests of an address', async () => {
      at().test.clock.advance(60_000);
      const { clock } = at().test;
      const { offset } = clock;
      const statuses: number[] = [];
      while (!statuses.includes(429) && statuses.length < 1_100) {
        // A clock that is set back adds nothing to the bucket, however long the machine needs for these.
        clock.advance(-3_000);
        statuses.push((await at().test.as(undefined, '').raw('HEAD', '/api/v2')).status);
      }
      clock.offset = offset;
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1_000);
      expect(statuses).toContain(429);
      expect((await at().api.get('/agents')).status).toBe(200);
      clock.advance(60_000);
      expect((await at().test.as(undefined).get('')).status).toBe(200);
    });
  }));
