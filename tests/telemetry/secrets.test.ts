import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lengthField } from '../../packages/otlp/tests/encode.ts';
import { must } from '../faults/scenarios/fixture.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { until } from '../harness/wait.ts';
import { integrations, startTracedPlatform, type TracedPlatform } from './fixture.ts';

/** Words that occur nowhere by chance, with characters that are escaped in JSON, urls and base64. */
const secrets: Record<string, string> = {};
const secret = (name: string): string =>
  (secrets[name] ??= `${randomBytes(6).toString('hex')}"/+ ~${randomBytes(6).toString('hex')}`);
/** For a url: characters that need no escape there. */
const token = (name: string): string => (secrets[name] ??= randomBytes(14).toString('hex'));

/** All strings that would reveal a secret or a good part of it, plain or escaped. */
const needles = (): [name: string, needle: string][] =>
  Object.entries(secrets).flatMap(([name, plain]) => {
    const forms = new Set([
      plain,
      encodeURIComponent(plain),
      JSON.stringify(plain).slice(1, -1),
      Buffer.from(plain).toString('base64').replace(/=+$/, ''),
      Buffer.from(`user:${plain}`).toString('base64').replace(/=+$/, ''),
    ]);
    // Ten characters in a row are not a coincidence.
    return [...forms].flatMap((form) =>
      Array.from({ length: Math.max(1, form.length - 9) }, (_, i): [string, string] => [
        name,
        form.slice(i, i + 10),
      ]),
    );
  });

/** Where a needle was found, as readable lines; empty if there is none. */
const found = (haystacks: [where: string, text: string | Buffer][]): string[] => {
  const all = needles();
  return haystacks.flatMap(([where, text]) => {
    const hit = all.find(([, needle]) => text.includes(needle));
    return hit ? [`${hit[0]} in ${where}: ${text.toString().slice(0, 300)}`] : [];
  });
};

type Mode = 'json' | 'status' | 'text' | 'redirect' | 'unauthorized' | 'unavailable' | 'partial' | 'large';
const modes: Mode[] = [
  'partial',
  'json',
  'status',
  'text',
  'unavailable',
  'large',
  'redirect',
  'unauthorized',
];

/** A backend that repeats everything it receives, wherever a response has room. */
class Echo {
  mode: Mode = 'partial';
  readonly got: { url: string; headers: IncomingHttpHeaders }[] = [];
  readonly #server: Server = createServer((request, response) => {
    const headers = { ...request.headers };
    this.got.push({ url: request.url!, headers });
    const [scheme, given = ''] = (request.headers.authorization ?? '').split(' ');
    const parts = [
      request.url,
      ...Object.values(headers),
      given,
      scheme === 'Basic' ? Buffer.from(given, 'base64').toString() : '',
    ].join(' ');
    const text = parts.replace(/[^\x20-\x7e]/g, ' ');
    response.statusMessage = text;
    response.setHeader('x-echo', text);
    response.setHeader('www-authenticate', `Bearer realm="${text.replaceAll('"', "'")}"`);
    response.setHeader('set-cookie', `echo=${encodeURIComponent(text)}`);
    const respond = (status: number, type: string, body: string | Buffer): void => {
      request.resume();
      request.on('end', () => response.writeHead(status, { 'content-type': type }).end(body));
    };
    const protobuf = 'application/x-protobuf';
    if (this.mode === 'partial') {
      respond(200, protobuf, lengthField(1, Buffer.concat([Buffer.from([8, 1]), lengthField(2, text)])));
    } else if (this.mode === 'status') respond(400, protobuf, lengthField(2, text));
    else if (this.mode === 'text') respond(400, 'text/plain', text);
    else if (this.mode === 'large') respond(413, 'text/plain', text);
    else if (this.mode === 'unavailable') {
      response.setHeader('retry-after', text);
      respond(503, 'application/json', JSON.stringify({ error: { message: text } }));
    } else if (this.mode === 'redirect') {
      response.setHeader('location', `http://127.0.0.1:9/${encodeURIComponent(text)}`);
      respond(307, 'text/plain', text);
    } else
      respond(
        this.mode === 'unauthorized' ? 401 : 400,
        'application/json',
        JSON.stringify({ message: text }),
      );
  });
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const settingsAt = (url: string): Record<string, Record<string, unknown>> => ({
  hosted_dashboard: {
    url: `${url}/a?key=${token('query of hosted_dashboard')}`,
    api_token: secret('api_token'),
    dashboard_instance_id: 'user',
    additional_headers: { 'X-Scope': secret('additional_headers') },
  },
  llm_tracing: {
    url: `${url}/b?key=${token('query of llm_tracing')}`,
    project_name: 'p',
    api_key: secret('api_key'),
  },
  otlp_basic_auth: {
    url: `${url}/c?key=${token('query of otlp_basic_auth')}`,
    username: 'user',
    password: secret('password'),
  },
  otlp_custom_headers: {
    url: `${url}/d?key=${token('query of otlp_custom_headers')}`,
    headers: { Authorization: `Bearer ${secret('headers.Authorization')}`, 'X-Key': secret('headers.X-Key') },
  },
});

const echo = new Echo();
let platform: TracedPlatform;
let honest: OtlpReceiver;
let settings: ReturnType<typeof settingsAt>;
const ids: Record<string, string> = {};
/** Everything that was returned or written and must not contain a secret. */
const haystacks: [string, string | Buffer][] = [];

beforeAll(async () => {
  platform = await startTracedPlatform({ LOG_LEVEL: 'trace' });
  honest = await startOtlpReceiver();
  settings = settingsAt(await echo.start());
  await platform.integrate({ provider: 'otlp_custom_headers', url: honest.url }, true);
  for (const [provider, fields] of Object.entries(settings)) {
    ids[provider] = await platform.integrate({ provider, ...fields });
  }
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await Promise.all([honest?.close(), echo.close()]);
});

const inspect = async (where: string, response: Promise<{ status: number; text: string }>): Promise<void> => {
  const { status, text } = await response;
  haystacks.push([`${where} → ${status}`, text]);
};

test('credentials are in the responses to an admin, and in the requests to the backend', async () => {
  for (const [provider, id] of Object.entries(ids)) {
    const { body } = await platform.api.get(`${integrations}/${id}`);
    expect(body.settings).toMatchObject(settings[provider]!);
  }
  const list = await platform.api.get(integrations);
  for (const [name, value] of Object.entries(secrets)) {
    expect(list.text.includes(JSON.stringify(value).slice(1, -1)), name).toBe(true);
  }
  await platform.send('first', 2);
  await until(() => new Set(echo.got.map(({ url }) => url)).size === 4);
  const sent = echo.got.map(({ url, headers }) => {
    const [scheme, given = ''] = (headers.authorization ?? '').split(' ');
    const pair = scheme === 'Basic' ? Buffer.from(given, 'base64').toString() : '';
    return JSON.stringify([url, Object.values(headers), pair]);
  });
  for (const [name, value] of Object.entries(secrets)) {
    const text = JSON.stringify(value).slice(1, -1);
    expect(
      sent.some((one) => one.includes(text)),
      name,
    ).toBe(true);
  }
});

test('what a backend echoes is in no health, test result, dead letter or refusal', async () => {
  for (const mode of modes) {
    echo.mode = mode;
    const before = echo.got.length;
    // An edit, so that a paused integration tries again.
    for (const id of Object.values(ids)) {
      await must(platform.api.put(`${integrations}/${id}`, { version: '2' }));
    }
    await platform.send(mode, 2);
    await until(() => new Set(echo.got.slice(before).map(({ url }) => url)).size === 4);
    for (const [provider, id] of Object.entries(ids)) {
      const path = `${integrations}/${id}`;
      const health = await until(async () => {
        const now = await platform.health(id);
        return now.last_error !== null && now;
      });
      haystacks.push([`health of ${provider}, ${mode}`, JSON.stringify(health)]);
      await inspect(`test of ${provider}, ${mode}`, platform.api.post(`${path}/test`));
      const body = { settings: { provider, ...settings[provider] } };
      await inspect(
        `test of settings of ${provider}, ${mode}`,
        platform.api.post(`${integrations}/test`, body),
      );
      await inspect(`retry of dead letters of ${provider}`, platform.app.post(`${path}/dead-letters/retry`));
      await inspect(`dead letters of ${provider}, ${mode}`, platform.app.get(`${path}/dead-letters`));
    }
  }
  const texts = haystacks.map(([, text]) => text.toString()).join('\n');
  // The backend did echo: the refusals were read, and their text was withheld.
  expect(texts).toContain('repeats credentials and is not shown');
  expect(texts).toContain('redirects are not followed');
  expect(texts).toMatch(/"status":400/);
  expect(found(haystacks)).toEqual([]);
});

test('secrets are not in the responses to other roles, in errors, in /metrics or in the OpenAPI document', async () => {
  for (const role of ['builder', 'member']) {
    const key = await must(platform.api.post('/api-keys', { name: role, role }));
    const client = platform.as(key.value!);
    for (const id of Object.values(ids)) {
      for (const path of ['', '/health', '/scopes']) {
        await inspect(`GET ${path} as ${role}`, client.get(`${integrations}/${id}${path}`));
      }
      await inspect(`test as ${role}`, client.post(`${integrations}/${id}/test`));
    }
    await inspect(`list as ${role}`, client.get(integrations));
  }
  for (const [provider, fields] of Object.entries(settings)) {
    for (const key of Object.keys(fields)) {
      // Each is wrong in one field, which contains the secret; all others are right.
      for (const wrong of [[fields[key]], { nested: fields[key] }, `${JSON.stringify(fields[key])}\n`]) {
        const body = { version: '1', settings: { provider, ...fields, [key]: wrong } };
        await inspect(`create with a wrong ${key}`, platform.api.post(integrations, body));
      }
    }
    await inspect(
      'create without a version',
      platform.api.post(integrations, { settings: { provider, ...fields } }),
    );
  }
  const bad = { headers: { 'content-type': 'application/json' } };
  await inspect(
    'broken JSON',
    platform.api.raw('POST', integrations, JSON.stringify(settings).slice(0, -2), bad),
  );
  await inspect('/metrics', platform.as(undefined, '').get('/metrics'));
  for (const base of ['/api/v2', '/api/v1', '/app/api'])
    await inspect(base, platform.as(undefined, base).get(''));
  for (let offset = 0; offset < 1_000; offset += 200) {
    await inspect('audits', platform.api.get(`/audits?limit=200&offset=${offset}`));
  }
  expect(haystacks.some(([, text]) => text.includes('integration.create'))).toBe(true);
  expect(found(haystacks)).toEqual([]);
});

test('secrets are not in the logs, in traces to debug integrations, in the database in clear text, or in any file', async () => {
  const own: [string, string | Buffer][] = [['the logs', platform.process.output()]];
  expect(platform.process.output()).toContain('delivery paused');
  await platform.api.get('/agents');
  await until(() => honest.spans().some(({ name }) => name.startsWith('PUT ')));
  for (const { payload, headers } of honest.requests) {
    own.push(['a trace', payload], ['headers of a trace', JSON.stringify(headers)]);
  }
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
    );
    expect(tables.length).toBeGreaterThan(15);
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      own.push([`table ${name}`, rows.map(({ text }) => text).join('\n')]);
    }
  } finally {
    await client.end();
  }
  const entries = await readdir(platform.process.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.some(({ name }) => name.endsWith('.segment'))).toBe(true);
  expect(files.some(({ parentPath }) => parentPath.includes('dead-letters'))).toBe(true);
  for (const { parentPath, name } of files) own.push([name, await readFile(join(parentPath, name))]);
  expect(found(own)).toEqual([]);
});
