import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../harness/browser.ts';
import { client } from '../harness/http.ts';
import { type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { newServer, onFreePort, type Server } from '../harness/server.ts';
import { callbackPath, startSignIn } from '../harness/sign-in.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';
import { describeWith, jsonOf } from './peers.ts';

const secret = 'a-client-secret-of-32-characters';

/** The realm of docs/recipes/sign-in.md: a client for the platform, and realm roles in the ID token. */
const realmOf = (platformUrl: string) => ({
  realm: 'company',
  enabled: true,
  sslRequired: 'none',
  roles: { realm: [{ name: 'platform-admin' }, { name: 'platform-member' }] },
  clients: [
    {
      clientId: 'agent-platform',
      secret,
      protocol: 'openid-connect',
      publicClient: false,
      standardFlowEnabled: true,
      redirectUris: [`${platformUrl}${callbackPath}`],
      attributes: {
        'post.logout.redirect.uris': `${platformUrl}/`,
        'backchannel.logout.url': `${platformUrl}/app/api/sign-in/back-channel-logout`,
        // With it, one token with the `sid` of one session is all that it sends for a person with several.
        'backchannel.logout.session.required': 'false',
      },
      protocolMappers: [
        {
          name: 'realm roles',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-usermodel-realm-role-mapper',
          config: {
            'claim.name': 'realm_access.roles',
            'jsonType.label': 'String',
            multivalued: 'true',
            'id.token.claim': 'true',
            'access.token.claim': 'true',
            'userinfo.token.claim': 'true',
          },
        },
      ],
    },
  ],
  users: [
    {
      username: 'ada',
      email: 'ada@example.com',
      emailVerified: true,
      firstName: 'Ada',
      lastName: 'L',
      enabled: true,
      credentials: [{ type: 'password', value: 'ada-password', temporary: false }],
      realmRoles: ['platform-admin', 'default-roles-company', 'offline_access'],
    },
    {
      username: 'bob',
      email: 'bob@example.com',
      emailVerified: true,
      firstName: 'Bob',
      lastName: 'M',
      enabled: true,
      credentials: [{ type: 'password', value: 'bob-password', temporary: false }],
    },
  ],
});

describeWith('keycloak', (program) => {
  let server: Server;
  let platform: PlatformProcess;
  let origin = '';
  let platformUrl = '';
  beforeAll(async () => {
    server = await newServer('keycloak');
    const port = await freePort();
    platformUrl = `http://127.0.0.1:${port}`;
    // It builds itself when it first starts, into its own folder; its database begins empty.
    const home = dirname(dirname(program));
    await rm(join(home, 'data/h2'), { recursive: true, force: true });
    await mkdir(join(home, 'data/import'), { recursive: true });
    await writeFile(join(home, 'data/import/company.json'), JSON.stringify(realmOf(platformUrl)));
    await onFreePort(async (own) => {
      origin = `http://127.0.0.1:${own}`;
      await server.start({
        command: join(home, 'bin/kc.sh'),
        args: [
          'start-dev',
          '--import-realm',
          `--http-port=${own}`,
          '--http-host=127.0.0.1',
          `--http-management-port=${await freePort()}`,
        ],
        options: {
          env: {
            PATH: process.env.PATH,
            HOME: server.base,
            KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
            KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin-password',
          },
        },
        isReady: async () => (await fetch(`${origin}/realms/company/.well-known/openid-configuration`)).ok,
        withinMs: 580_000,
      });
    });
    platform = await spawnPlatform({
      port,
      env: {
        PUBLIC_URL: platformUrl,
        OIDC_ISSUER: `${origin}/realms/company`,
        OIDC_CLIENT_ID: 'agent-platform',
        OIDC_CLIENT_SECRET: secret,
        // With offline_access it keeps no session that a logout could end, and sends no token.
        OIDC_SCOPES: 'openid profile email',
      },
    });
    const api = client(`${platformUrl}/api/v2`, platform.key);
    for (const [value, role] of [
      ['platform-admin', 'admin'],
      ['platform-member', 'member'],
    ]) {
      const made = await api.post('/role-mappings', { claim: '/realm_access/roles', value, role });
      expect(made.status, made.text).toBeLessThan(300);
    }
  });
  afterAll(async () => {
    await platform?.stop();
    await server?.stop('SIGTERM');
  });

  /** Signs in with the real form of the provider. */
  const signIn = async (browser: Browser, user: string) => {
    const start = await until(() => startSignIn(browser, platformUrl).catch(() => false as const));
    const form = await browser.follow(start.href);
    const action = /<form[^>]*id="kc-form-login"[^>]*action="([^"]+)"/
      .exec(form.text)![1]!
      .replaceAll('&amp;', '&');
    const sent = await browser.post(action, { username: user, password: `${user}-password` });
    expect(new URL(sent.location!).pathname).toBe(callbackPath);
    return browser.get(sent.location!);
  };
  const me = async (browser: Browser) => browser.get(`${platformUrl}/app/api/me`);

  test('a person signs in and has the role of a realm role; one without such a role is refused', async () => {
    const browser = new Browser();
    expect((await signIn(browser, 'ada')).status).toBe(303);
    expect(JSON.parse((await me(browser)).text)).toMatchObject({ principal: { role: 'admin' } });
    const other = new Browser();
    await signIn(other, 'bob');
    expect((await me(other)).status).toBe(401);
  });

  test('a logout of a person at the provider ends all of their sessions here', async () => {
    const browsers = [new Browser(), new Browser()];
    for (const browser of browsers) {
      await signIn(browser, 'ada');
      expect((await me(browser)).status).toBe(200);
    }
    const token = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'admin',
        password: 'admin-password',
      }),
    });
    const { access_token } = await jsonOf(token);
    const admin = { headers: { authorization: `Bearer ${access_token}` } };
    const users = await jsonOf(fetch(`${origin}/admin/realms/company/users?username=ada`, admin));
    const ended = await fetch(`${origin}/admin/realms/company/users/${users[0].id}/logout`, {
      method: 'POST',
      ...admin,
    });
    expect(ended.status).toBe(204);
    for (const browser of browsers) await until(async () => (await me(browser)).status === 401);
  });
});
