import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  epoch,
  type ForgingProvider,
  startForgingProvider,
} from '../../../tests/harness/forging-provider.ts';
import { readConfig } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createEgress } from '../../lib/egress.ts';
import type { Logger } from '../../lib/log.ts';
import { silentLogger } from '../../lib/log.ts';
import { OidcClient } from './client.ts';
import { Discovery } from './discovery.ts';
import { ProviderKeys } from './keys.ts';

let idp: ForgingProvider;
const egress = createEgress({});
beforeAll(async () => {
  idp = await startForgingProvider();
});
afterAll(async () => {
  await idp[Symbol.asyncDispose]();
  await egress.close();
});
beforeEach(() => idp.reset());

const connect = (env: Record<string, string> = {}, log: Logger = silentLogger) => {
  const { oidc, publicUrl } = readConfig({ ...idp.env, ...env });
  const discovery = new Discovery(oidc!, egress, log);
  const keys = new ProviderKeys(discovery, egress);
  const client = new OidcClient({
    oidc: oidc!,
    publicUrl: publicUrl!,
    discovery,
    keys,
    egress,
    clock: systemClock,
  });
  return { client, discovery, keys };
};

describe('a refresh', () => {
  const refresh = async (idToken: string | null = null) => {
    const { client, discovery } = connect();
    await discovery.discover();
    return client.refresh('refresh alice', { issuer: idp.issuer, subject: 'alice', idToken });
  };
  const withoutIdToken = () => {
    idp.script.tokens = ({ id_token: _none, ...tokens }) => tokens;
  };
  const oldToken = () =>
    idp.sign({ iss: idp.issuer, sub: 'alice', groups: ['a'], name: 'Old', exp: epoch() - 900 });

  it('confirms with the new tokens and claims', async () => {
    idp.script.userinfo = { groups: ['b'] };
    expect(await refresh()).toMatchObject({
      outcome: 'confirmed',
      identity: { issuer: idp.issuer, subject: 'alice', claims: { groups: ['b'], sub: 'alice' } },
      tokens: { refreshToken: 'refresh alice', idToken: expect.stringMatching(/^ey/) },
    });
  });

  it('keeps what the old ID token says where the provider says nothing newer', async () => {
    withoutIdToken();
    idp.script.userinfo = { name: 'New' };
    const idToken = await oldToken();
    expect(await refresh(idToken)).toMatchObject({
      outcome: 'confirmed',
      identity: { claims: { groups: ['a'], name: 'New' } },
      tokens: { idToken },
    });
    idp.script.discovery = ({ userinfo_endpoint: _none, ...document }) => document;
    expect(await refresh(idToken)).toMatchObject({ identity: { claims: { groups: ['a'], name: 'Old' } } });
    idp.script.tokens = ({ id_token: _1, refresh_token: _2, ...tokens }) => tokens;
    expect(await refresh(idToken)).toMatchObject({ tokens: { refreshToken: 'refresh alice' } });
  });

  it('ends the session if the provider refuses, or speaks of another person', async () => {
    for (const error of ['invalid_grant', 'interaction_required']) {
      idp.script.replies.token = { status: 400, body: { error } };
      expect(await refresh()).toMatchObject({ outcome: 'ended' });
    }
    idp.reset();
    idp.script.claims = (claims) => ({ ...claims, sub: 'mallory' });
    expect(await refresh()).toMatchObject({ outcome: 'ended' });
    idp.reset();
    idp.script.userinfo = { sub: 'mallory' };
    expect(await refresh()).toMatchObject({ outcome: 'ended' });
  });

  it('is no verdict if the provider is down, rejects our secret, or its token does not hold', async () => {
    for (const reply of [
      { status: 500, body: '' },
      { status: 429, body: {} },
      { status: 401, body: { error: 'invalid_client' } },
      { headers: { 'content-type': 'text/html' }, body: '<h1>' },
      'endless' as const,
    ]) {
      idp.script.replies.token = reply;
      expect(await refresh()).toMatchObject({ outcome: 'unavailable' });
    }
    idp.reset();
    idp.script.replies.userinfo = { status: 500, body: '' };
    expect(await refresh()).toMatchObject({ outcome: 'unavailable' });
    idp.reset();
    idp.script.sign = (claims) => idp.sign(claims, {}, idp.otherKey.privateKey);
    expect(await refresh()).toMatchObject({ outcome: 'unavailable' });
    idp.reset();
    withoutIdToken();
    idp.script.discovery = ({ userinfo_endpoint: _none, ...document }) => document;
    expect(await refresh()).toMatchObject({ outcome: 'unavailable' });
    const { client } = connect({ OIDC_ISSUER: 'http://127.0.0.1:1' });
    const expected = { issuer: 'http://127.0.0.1:1', subject: 'alice', idToken: null };
    expect(await client.refresh('r', expected)).toMatchObject({ outcome: 'unavailable' });
  });

  it('keeps a refresh token that was replaced before the provider failed', async () => {
    idp.script.tokens = (tokens) => ({ ...tokens, refresh_token: 'the next' });
    idp.script.replies.userinfo = { status: 500, body: '' };
    expect(await refresh()).toMatchObject({ outcome: 'unavailable', refreshToken: 'the next' });
    idp.script.claims = (claims) => ({ ...claims, aud: 'another' });
    expect(await refresh()).toMatchObject({ outcome: 'unavailable', refreshToken: 'the next' });
  });

  it('sends no token to another provider than the one that made it', async () => {
    const { client, discovery } = connect();
    await discovery.discover();
    const expected = { issuer: 'https://other.example', subject: 'alice', idToken: null };
    expect(await client.refresh('refresh alice', expected)).toMatchObject({ outcome: 'ended' });
    expect(idp.count('token')).toBe(0);
  });
});

describe('the end of a session at the provider', () => {
  it('has an address where the provider has one', async () => {
    const { client, discovery } = connect();
    expect(client.endSessionUrl('the.id.token')).toBeNull();
    await discovery.discover();
    const url = new URL(client.endSessionUrl('the.id.token')!);
    expect(url.origin + url.pathname).toBe(`${idp.issuer}/end`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      at: 'once',
      id_token_hint: 'the.id.token',
      client_id: 'agent-platform',
      post_logout_redirect_uri: `${idp.env.PUBLIC_URL}/`,
    });
    idp.script.discovery = ({ end_session_endpoint: _none, ...document }) => document;
    await discovery.discover();
    expect(client.endSessionUrl('the.id.token')).toBeNull();
  });

  it('revokes the refresh token, and does not mind a provider that cannot', async () => {
    const { client, discovery } = connect();
    await client.revoke('early');
    await discovery.discover();
    await client.revoke('refresh alice');
    const { fields } = idp.requests.find(({ endpoint }) => endpoint === 'revoke')!;
    expect(fields).toEqual({ token: 'refresh alice', token_type_hint: 'refresh_token' });
    idp.script.replies.revoke = { status: 500, body: '' };
    await client.revoke('refresh alice');
  });
});

describe('the discovery', () => {
  const lines: { level: string; cause?: string; message: string }[] = [];
  const log = {
    info: (message: string) => lines.push({ level: 'info', message }),
    warn: ({ cause }: { cause: string }, message: string) => lines.push({ level: 'warn', cause, message }),
  } as unknown as Logger;
  const causes = () => lines.splice(0).map(({ cause, message }) => cause ?? message);

  it('logs one line for each change of cause, and keeps what it knew', async () => {
    const { discovery } = connect({}, log);
    idp.script.replies.discovery = { status: 500, body: '' };
    expect(await discovery.discover()).toBe(false);
    expect(await discovery.discover()).toBe(false);
    expect(causes()).toEqual(['unexpected HTTP response status code (status 500)']);
    idp.script.replies.discovery = { headers: { 'content-type': 'text/html' }, body: '<h1>' };
    await discovery.discover();
    expect(causes()).toHaveLength(1);
    idp.reset();
    expect(await discovery.discover()).toBe(true);
    expect(await discovery.discover()).toBe(true);
    expect(causes()).toEqual(['the identity provider responds again']);
    idp.script.replies.discovery = 'endless';
    expect(await discovery.discover()).toBe(false);
    expect(causes()).toEqual(['the response is too large']);
    expect(discovery.metadata?.issuer).toBe(idp.issuer);
  });

  it('takes only a provider that calls itself exactly as configured', async () => {
    for (const own of [`${idp.issuer}/`, idp.issuer.toUpperCase(), 'https://evil.example']) {
      const { discovery } = connect({}, log);
      idp.script.discovery = (document) => ({ ...document, issuer: own });
      expect(await discovery.discover()).toBe(false);
      expect(causes()).toEqual([`the provider calls itself ${own}: set OIDC_ISSUER to exactly that`]);
    }
  });

  it('needs endpoints, and an algorithm that only the provider can sign with', async () => {
    const { discovery } = connect({}, log);
    for (const [field, value] of Object.entries({
      token_endpoint: undefined,
      jwks_uri: 'file:///etc/passwd',
      authorization_endpoint: 'javascript:alert(1)',
      id_token_signing_alg_values_supported: ['none', 'HS256'],
      userinfo_endpoint: 7,
    })) {
      idp.script.discovery = (document) => ({ ...document, [field]: value });
      expect(await discovery.discover(), field).toBe(false);
      expect(causes()).toEqual([`its configuration has no usable ${field}`]);
    }
  });
});

describe('the keys of the provider', () => {
  it('are read again once for an unknown key, and every request that names it waits for them', async () => {
    const { discovery, keys } = connect();
    await discovery.discover();
    await keys.get('key-1');
    idp.script.keys = [idp.otherKey.publicKey];
    const found = await Promise.all(Array.from({ length: 5 }, () => keys.get('key-2')));
    for (const set of found) expect(set.keys.map(({ kid }) => kid)).toEqual(['key-2']);
    expect(idp.count('jwks')).toBe(2);
  });
});
