import { randomBytes } from 'node:crypto';
import { sql } from '../../src/database/index.ts';
import { sha256 } from '../../src/lib/crypto.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client } from '../harness/http.ts';
import { type Fixture, ok, query } from './fixture.ts';

type Base = Parameters<Fixture['as']>[1];

/** A client that sends `headers` with each request. */
const withHeaders = (client: Client, headers: Record<string, string>): Client => {
  const merged: Client['raw'] = (method, path, body, options = {}) =>
    client.raw(method, path, body, { ...options, headers: { ...headers, ...options.headers } });
  const withJson =
    (method: string): Client['post'] =>
    (path, body, options = {}) =>
      body === undefined
        ? merged(method, path, undefined, options)
        : merged(method, path, JSON.stringify(body), {
            ...options,
            headers: { 'content-type': 'application/json', ...options.headers },
          });
  return {
    get: (path, options) => merged('GET', path, undefined, options),
    post: withJson('POST'),
    put: withJson('PUT'),
    patch: withJson('PATCH'),
    delete: (path, options) => merged('DELETE', path, undefined, options),
    raw: merged,
  };
};

/** A page of the application in a browser with this cookie. */
export const browser = (fixture: Fixture, cookie: string, base: Base = '/app/api'): Client =>
  withHeaders(fixture.as(undefined, base), { cookie, 'sec-fetch-site': 'same-origin' });

/** The `name=value` of the cookie that a response sets. */
export const cookieOf = (headers: Headers): string => headers.getSetCookie()[0]!.split(';')[0]!;

/** Signs in with a key. `had`: the cookie that the browser had. */
export const signIn = async (fixture: Fixture, key: string, had?: string) => {
  const headers = { 'sec-fetch-site': 'same-origin', ...(had === undefined ? {} : { cookie: had }) };
  const response = await fixture.as(undefined, '/app/api').post('/sessions', { api_key: key }, { headers });
  await ok(Promise.resolve(response));
  const cookie = cookieOf(response.headers);
  return { cookie, me: response.body, headers: response.headers, page: browser(fixture, cookie) };
};

/** Makes a person who has signed in with a provider, without a provider. */
export const newPerson = async (fixture: Fixture, role: string, name = 'Ada'): Promise<string> => {
  const id = newId();
  await query(
    fixture,
    sql`insert into users (id, issuer, subject, email, name, role, last_confirmed_at)
      values (${id}, 'https://id.example', ${id}, ${`${id}@example.com`}, ${name}, ${role}, platform_now())`,
  );
  return id;
};

/** Makes a session of a person as a sign-in with the provider does, without a provider. */
export const newPersonSession = async (fixture: Fixture, userId: string) => {
  const id = newId();
  const value = randomBytes(32).toString('base64url');
  await query(
    fixture,
    sql`insert into sessions (id, value_hash, principal_id, method, user_id)
      values (${id}, ${sha256(value)}, ${userId}, 'oidc', ${userId})`,
  );
  const cookie = `ap_session=${value}`;
  return { id, cookie, page: browser(fixture, cookie) };
};
