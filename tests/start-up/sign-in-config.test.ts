import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';

const complete = {
  OIDC_ISSUER: 'https://id.example.com/tenant/',
  OIDC_CLIENT_ID: 'the-client',
  OIDC_CLIENT_SECRET: 'the-secret',
  PUBLIC_URL: 'https://agents.example.com',
};

const mistakes = (env: Record<string, string>): string[] => {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).mistakes;
  }
  return [];
};

describe('the configuration of the identity provider', () => {
  it('has defaults, and keeps the issuer exactly', () => {
    const { oidc } = readConfig(complete);
    expect(oidc).toMatchObject({
      issuer: 'https://id.example.com/tenant/',
      clientId: 'the-client',
      scopes: null,
      parameters: [],
      emailVerifiedClaim: 'email_verified',
      name: 'single sign-on',
    });
    expect(oidc!.clientSecret.reveal()).toBe('the-secret');
    expect(JSON.stringify(oidc)).not.toContain('the-secret');
    expect(readConfig({}).oidc).toBeNull();
  });

  it('reads scopes and parameters', () => {
    const { oidc } = readConfig({
      ...complete,
      OIDC_SCOPES: 'openid  groups',
      OIDC_PARAMETERS: 'prompt=consent&resource=a%20b&resource=c',
    });
    expect(oidc!.scopes).toEqual(['openid', 'groups']);
    expect(oidc!.parameters).toEqual([
      ['prompt', 'consent'],
      ['resource', 'a b'],
      ['resource', 'c'],
    ]);
  });

  it('is all three variables or none, and names each that is missing', () => {
    for (const name of ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']) {
      const { PUBLIC_URL, ...three } = complete;
      const { [name]: _left, ...others } = three as Record<string, string>;
      const found = mistakes({ ...others, PUBLIC_URL });
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(new RegExp(`^${name}: is required`));
      expect(found.join()).not.toContain('the-secret');
    }
    expect(mistakes({ OIDC_ISSUER: 'https://id.example.com' }).map((line) => line.split(':')[0])).toEqual([
      'OIDC_CLIENT_ID',
      'OIDC_CLIENT_SECRET',
      'PUBLIC_URL',
    ]);
  });

  it('is https, except on loopback', () => {
    for (const issuer of [
      'http://id.example.com',
      'ftp://id.example.com',
      'id.example.com',
      'http://127.evil.com',
    ]) {
      expect(mistakes({ ...complete, OIDC_ISSUER: issuer }), issuer).toEqual([
        'OIDC_ISSUER: must be an https address; http only on loopback',
      ]);
    }
    expect(mistakes({ ...complete, PUBLIC_URL: 'http://agents.example.com' })).toEqual([
      'PUBLIC_URL: must be an https address with OIDC_ISSUER; http only on loopback',
    ]);
    for (const host of ['127.0.0.1:9', 'localhost', '[::1]:80']) {
      expect(mistakes({ ...complete, OIDC_ISSUER: `http://${host}`, PUBLIC_URL: `http://${host}` })).toEqual(
        [],
      );
    }
  });

  it('refuses parameters that the platform sets itself, and scopes without openid, all at once', () => {
    expect(
      mistakes({
        ...complete,
        OIDC_ISSUER: 'https://id.example.com/?a=b',
        OIDC_SCOPES: 'profile email',
        OIDC_PARAMETERS: 'prompt=login&state=x&%6eonce=1&request_uri=https://x',
      }),
    ).toEqual([
      'OIDC_ISSUER: must have no query, fragment or user name',
      'OIDC_SCOPES: must contain openid',
      'OIDC_PARAMETERS: must not contain state, which the platform sets itself',
      'OIDC_PARAMETERS: must not contain nonce, which the platform sets itself',
      'OIDC_PARAMETERS: must not contain request_uri, which the platform sets itself',
    ]);
    expect(mistakes({ ...complete, OIDC_PARAMETERS: 'prompt' })).toEqual([
      'OIDC_PARAMETERS: must be a query string such as prompt=consent&access_type=offline',
    ]);
  });
});
