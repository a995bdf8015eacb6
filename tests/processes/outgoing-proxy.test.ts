import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import { integrations } from '../contract/integrations-fixture.ts';
import { type ConnectProxy, startConnectProxy } from '../harness/connect-proxy.ts';
import { type Client, client } from '../harness/http.ts';
import { type Listening, listen } from '../harness/listen.ts';
import { completion, type Endpoint, startEndpoint, wireCall } from '../harness/llm-endpoint.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { selfSignedAway } from '../harness/self-signed.ts';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { runCommandAt } from './command-fixture.ts';

const credentials = 'clerk:a-secret-password';

/** Everything behind one proxy, under names that only the proxy knows. */
let proxy: ConnectProxy;
let platform: PlatformProcess;
let api: Client;
let backend: OtlpReceiver;
let secureBackend: Listening;
let endpoint: Endpoint;
let tools: TestToolServer;
let reader: Listening;
let folder: string;
beforeAll(async () => {
  backend = await startOtlpReceiver();
  secureBackend = await listen(
    createTlsServer(selfSignedAway, (_request, response) => void response.end()) as never,
  );
  endpoint = await startEndpoint(({ body }) => ({
    body: completion(
      body.tools ? { tool_calls: [wireCall('1', 'current_time', {})] } : { content: 'ready' },
      body.tools ? 'tool_calls' : 'stop',
    ),
  }));
  tools = await startToolServer({ tools: [{ name: 'look' }] });
  reader = await listen(
    createServer((_request, response) => {
      const line = { text: 'Hello', bbox: null };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ pages: [{ page: 1, width: 1, height: 1, lines: [line] }] }));
    }),
  );
  const here = { host: '127.0.0.1', port: 0 };
  proxy = await startConnectProxy({
    credentials,
    names: {
      'traces.invalid': here,
      'tls.invalid': here,
      'models.invalid': here,
      'tools.invalid': here,
      'reader.invalid': here,
      'platform.invalid': here,
    },
    tunnelPorts: [secureBackend.port],
    refused: ['refused.invalid'],
  });
  folder = await mkdtemp(join(tmpdir(), 'ap-proxy-'));
  const ca = join(folder, 'ca.pem');
  await writeFile(ca, selfSignedAway.cert);
  const address = proxy.url.replace('//', `//${credentials}@`);
  platform = await spawnPlatform({
    env: {
      HTTPS_PROXY: address,
      http_proxy: address,
      NO_PROXY: 'direct.invalid',
      NODE_EXTRA_CA_CERTS: ca,
      LOG_LEVEL: 'debug',
    },
  });
  api = client(`${platform.url}/api/v2`, platform.key);
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all([proxy, tools, endpoint].map((one) => one?.[Symbol.asyncDispose]()));
  await Promise.all([backend?.close(), secureBackend?.close(), reader?.close()]);
  if (folder) await rm(folder, { recursive: true });
  expect(proxy.faults).toEqual([]);
});

interface Step {
  step: string;
  ok: boolean;
  detail: string;
}
const stepsOf = ({ body }: { body: { steps: Step[] } }) => body.steps.map(({ step, ok }) => `${step} ${ok}`);
const detailOf = ({ body }: { body: { steps: Step[] } }, name: string) =>
  body.steps.find(({ step }) => step === name)!.detail;

test('traces go through the proxy, tested step by step', async () => {
  const url = `http://traces.invalid:${backend.port}/v1/traces`;
  const settings = (to: string) => ({ settings: { provider: 'otlp_custom_headers', url: to } });
  const tried = await api.post(`${integrations}/test`, settings(url));
  expect(stepsOf(tried)).toEqual([
    'url true',
    'name_lookup true',
    'proxy true',
    'authentication true',
    'sample_span true',
  ]);
  expect(detailOf(tried, 'proxy')).toBe(
    `Requests go through the proxy 127.0.0.1:${proxy.port}, which accepts connections.`,
  );
  const secure = await api.post(
    `${integrations}/test`,
    settings(`https://tls.invalid:${secureBackend.port}/v1/traces`),
  );
  expect(stepsOf(secure)).toEqual(
    ['url', 'name_lookup', 'proxy', 'connect', 'tls', 'authentication', 'sample_span'].map(
      (step) => `${step} true`,
    ),
  );
  const refused = await api.post(`${integrations}/test`, settings('https://refused.invalid/v1/traces'));
  expect(stepsOf(refused)).toEqual(['url true', 'name_lookup true', 'proxy false']);
  const unknown = await api.post(
    `${integrations}/test`,
    settings(`https://unknown.invalid:${secureBackend.port}/v1/traces`),
  );
  expect(stepsOf(unknown)).toEqual(['url true', 'name_lookup true', 'proxy true', 'connect false']);
  const direct = await api.post(`${integrations}/test`, settings('http://direct.invalid/v1/traces'));
  expect(stepsOf(direct)).toEqual(['url true', 'name_lookup false']);
  const loopback = await api.post(`${integrations}/test`, settings(backend.url));
  expect(stepsOf(loopback)).not.toContain('proxy true');

  backend.clear();
  const { body } = await api.post(integrations, { version: '1', ...settings(url) });
  await api.raw('POST', '/telemetry/v1/traces', spansNamed('through', 3, 'agent'), {
    headers: { 'content-type': 'application/x-protobuf' },
  });
  await backend.waitForSpans(3);
  await until(async () => (await api.get(`${integrations}/${body.id}/health`)).body.delivered === 3);
  expect(proxy.requests).toContain(`POST ${url}`);
});

test('models, tool servers and document readers are reached through it', async () => {
  const llm = await api.post('/llm-configurations', {
    kind: 'openai_compatible',
    name: 'Behind',
    model: 'm',
    base_url: `http://models.invalid:${new URL(endpoint.url).port}/v1`,
    settings: { streaming: false },
  });
  const probe = await api.post(`/llm-configurations/${llm.body.id}/test`);
  expect(stepsOf(probe).slice(0, 3)).toEqual(['proxy true', 'connect true', 'answer true']);
  const server = await api.post('/tool-servers', {
    name: 'Behind',
    url: `http://tools.invalid:${new URL(tools.url).port}${new URL(tools.url).pathname}`,
  });
  expect(server.body).toMatchObject({ state: 'ok', tool_count: 1 });
  const tested = await api.post(`/tool-servers/${server.body.id}/test`);
  expect(stepsOf(tested)).toEqual(
    ['resolve', 'proxy', 'connect', 'authenticate', 'negotiate', 'list_tools'].map((s) => `${s} true`),
  );
  const read = await api.post('/document-intelligence/test', {
    provider: 'http',
    settings: { url: `http://reader.invalid:${reader.port}/` },
  });
  expect(stepsOf(read)).toEqual(['address true', 'proxy true', 'read true']);
});

describe('the command agent-platform', () => {
  const run = (url: string, env: Record<string, string>) =>
    runCommandAt(url, ['export', '-f', '-'], { env: { AGENT_PLATFORM_KEY: platform.key, ...env } });
  const through = (): string => proxy.url.replace('//', `//${credentials}@`);

  test('reaches the platform through the proxy', async () => {
    const url = `http://platform.invalid:${new URL(platform.url).port}`;
    const { status, out, err } = await run(url, { http_proxy: through() });
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('version: 1');
    expect(proxy.requests).toContain(`GET ${url}/app/api/workspace?format=yaml`);
  });

  test.each([
    [
      'http://platform.invalid:8080',
      { HTTP_PROXY: 'http://clerk:wrong-one@127.0.0.1:{port}' },
      /credentials .*407/,
    ],
    [
      'https://refused.invalid',
      { HTTPS_PROXY: 'http://{credentials}@127.0.0.1:{port}' },
      /refuses to connect.*403/,
    ],
    [
      'http://platform.invalid',
      { HTTP_PROXY: 'socks5://clerk:wrong-one@x' },
      /HTTP_PROXY must be the address/,
    ],
    [
      'http://platform.invalid:8080',
      { HTTP_PROXY: 'http://{credentials}@127.0.0.1:{port}', NO_PROXY: '.invalid' },
      /ENOTFOUND|EAI_AGAIN/,
    ],
  ])('says why it does not, without credentials: %s %j', async (url, given, reason) => {
    const env = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value.replace('{port}', String(proxy.port)).replace('{credentials}', credentials),
      ]),
    );
    const { status, err } = await run(url, env);
    expect(status).toBe(1);
    expect(err).toMatch(reason);
    expect(err).not.toMatch(/wrong-one|a-secret-password|clerk/);
  });

  test('needs no proxy for this machine', async () => {
    const { status } = await run(platform.url, { HTTP_PROXY: 'http://127.0.0.1:1' });
    expect(status).toBe(0);
  });
});

test('credentials of the proxy are nowhere to be seen', async () => {
  const text = JSON.stringify([
    (await api.get('/advanced-settings')).body,
    (await api.get('/audits')).body,
    platform.output(),
  ]);
  expect(text).not.toMatch(/a-secret-password|Y2xlcms6/);
});

test.each([
  ['HTTPS_PROXY', 'socks5://proxy.example:1080'],
  ['http_proxy', 'http://'],
])('the start refuses %s=%s', async (name, value) => {
  const refused = await spawnPlatform({ env: { [name]: value }, readyWithinMs: null });
  await refused.exited;
  expect(refused.output()).toContain(`${name.toUpperCase()}: must be the address of an HTTP proxy`);
  await refused.stop();
});
