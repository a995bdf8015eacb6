import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { rawRequest } from '../harness/http.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';

/** Sends the path as it is, as a program and as a browser. */
const get = async (port: number, path: string, accept = '*/*') =>
  rawRequest(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`);

/** Other ways to write a path, which a proxy's rule for exactly this path lets through. */
const variantsOf = (path: string): string[] => {
  const [first, rest] = [path.charCodeAt(1).toString(16), path.slice(2)];
  const prefixed = ['/acme', '/tenants/acme', '/.', '/x/..', '/api/v2', '/app/api'].map((p) => p + path);
  return [
    `${path}/`,
    `${path}//`,
    `${path}/?x=1`,
    `/${path}`,
    `/%${first}${rest}`,
    `/%25${first}${rest}`,
    `${path}%2f`,
    `%2f${path.slice(1)}`,
    `${path};x`,
    `${path}%00`,
    `${path}#x`,
    path.toUpperCase(),
    `${path}/x`,
    ...prefixed,
  ];
};

describe('health, readiness and metrics', () => {
  let one: TestPlatform;
  let managed: TestPlatform;
  let portOf: Record<'main' | 'management', number>;
  beforeAll(async () => {
    one = await startTestPlatform('postgres');
    managed = await startTestPlatform('postgres', {
      MANAGEMENT_PORT: '0',
      PUBLIC_URL: 'https://platform.example.com',
    });
    portOf = { main: managed.platform.port, management: managed.platform.managementPort! };
  });
  afterAll(async () => {
    await one?.stop();
    await managed?.stop();
  });

  test.each(['/metrics', '/readyz', '/healthz'])('%s is there at exactly this path', async (path) => {
    for (const exact of [path, `${path}?x=1`, `${path}?`])
      expect((await get(one.platform.port, exact)).status, exact).toBe(200);
    for (const [server, port] of Object.entries({ one: one.platform.port, ...portOf })) {
      for (const variant of variantsOf(path)) {
        const { status, text } = await get(port, variant);
        expect([400, 401, 404], `${server} ${variant}`).toContain(status);
        expect(JSON.parse(text).error.code, variant).toMatch(/^(not_found|unauthorized|bad_request)$/);
        const page = await get(port, variant, 'text/html');
        expect(page.text, variant).not.toMatch(/agent_platform_|"status":"(ready|ok)"/);
      }
      // A key opens nothing more.
      for (const variant of [`${path}/`, `/acme${path}`])
        expect((await fetch(`http://127.0.0.1:${port}${variant}`, withKey)).status).toBe(404);
    }
  });
  const withKey = { headers: { authorization: `Bearer ${adminKey}` } };

  test('with MANAGEMENT_PORT the metrics are there alone, and both ports say that they are alive', async () => {
    for (const accept of ['*/*', 'text/html'])
      expect((await get(portOf.main, '/metrics', accept)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${portOf.main}/metrics`, withKey)).status).toBe(404);
    for (const port of Object.values(portOf))
      for (const path of ['/healthz', '/readyz']) expect((await get(port, path)).status).toBe(200);
    const metrics = await get(portOf.management, '/metrics');
    expect(metrics.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(metrics.text).toContain('agent_platform_schedules_overdue');
  });

  test('the management port has nothing else', async () => {
    const origin = `http://127.0.0.1:${portOf.management}`;
    for (const path of ['/', '/api/v2', '/api/v2/agents', '/app/api/me', '/v1/traces', '/agents'])
      for (const method of ['GET', 'POST']) {
        const response = await fetch(origin + path, { method, ...withKey });
        const { error } = (await response.json()) as { error: { code: string } };
        expect([response.status, error.code]).toEqual([404, 'not_found']);
      }
  });

  test('MANAGEMENT_PORT must be a port, another one than PORT', () => {
    const mistakes = (env: Record<string, string>) => () => readConfig(env);
    for (const value of ['x', '-1', '65536', '8081.5'])
      expect(mistakes({ MANAGEMENT_PORT: value })).toThrow('MANAGEMENT_PORT: must be a port from 0 to 65535');
    expect(mistakes({ MANAGEMENT_PORT: '8080' })).toThrow('MANAGEMENT_PORT: must be another port than PORT');
    expect(mistakes({ PORT: '81', MANAGEMENT_PORT: '81' })).toThrow('must be another port than PORT');
    expect(readConfig({ MANAGEMENT_PORT: '' }).managementPort).toBeNull();
    expect(readConfig({ PORT: '0', MANAGEMENT_PORT: '0' }).managementPort).toBe(0);
  });

  test('a management port that is taken stops the start, by its name', async () => {
    const { port } = one.platform;
    await expect(startTestPlatform('postgres', { MANAGEMENT_PORT: String(port) })).rejects.toThrow(
      `HOST, MANAGEMENT_PORT: 127.0.0.1:${port} is taken`,
    );
  });

  /** A response of each kind of code that writes one: routes, refusals, pages, raw routes on both paths, bad HTTP. */
  const responses = async (port: number) => {
    const traces = (type: string) => ({
      method: 'POST',
      headers: { ...withKey.headers, 'content-type': type },
      body: '{}',
    });
    const fetched = await Promise.all(
      (
        [
          ['/api/v2'],
          ['/api/v2/agents', withKey],
          ['/api/v2/agents'],
          ['/healthz'],
          ['/nothing'],
          ['/', { headers: { accept: 'text/html' } }],
          ['/v1/traces', traces('application/json')],
          ['/v1/traces', { method: 'POST', body: '{}' }],
          ['/v1/traces', traces('text/plain')],
          ['/api/v2/agents', { ...traces('application/json'), body: '{' }],
        ] as [string, RequestInit?][]
      ).map(async ([path, init]) => {
        const { headers } = await fetch(`http://127.0.0.1:${port}${path}`, init);
        return Object.fromEntries(headers);
      }),
    );
    const bad = await rawRequest(port, 'NOT HTTP\r\n\r\n');
    return [...fetched, bad.headers];
  };

  test('every response says nosniff, and with an https PUBLIC_URL that browsers use no plain HTTP', async () => {
    const expected = { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=31536000' };
    for (const headers of await responses(portOf.main)) expect(headers).toMatchObject(expected);
    for (const headers of await responses(one.platform.port)) {
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers).not.toHaveProperty('strict-transport-security');
    }
    expect((await get(portOf.management, '/metrics')).headers['x-content-type-options']).toBe('nosniff');
  });
});
