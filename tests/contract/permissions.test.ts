import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/database/index.ts';
import { createFeatures } from '../../src/features.ts';
import { permissionsOf } from '../../src/http/index.ts';
import { type Role, roleAllows, roles, type Scope, scopes, scopesAllow } from '../../src/lib/principal.ts';
import { offlineServices } from '../../src/services.ts';
import type { Client, ClientResponse } from '../harness/http.ts';
import { type Fixture, newKey, query, setSettings, unknownId, withPlatform } from './fixture.ts';

const permissions = new Map(
  permissionsOf(createFeatures(offlineServices(readConfig({}))).list).map((one) => [one.id, one]),
);

/** null: all that the role allows; `[]`: nothing, which only the database can hold. */
const grants: (Scope[] | null)[] = [null, [], [...scopes], ...scopes.map((scope) => [scope])];

interface Caller {
  role: Role;
  granted: Scope[] | null;
  byKey: Client;
  /** By the cookie of a session that was made with the key. */
  bySession: Client;
}

const newCaller = async (at: Fixture, role: Role, granted: Scope[] | null): Promise<Caller> => {
  const { id, value } = await newKey(at, role, granted?.length ? { scopes: granted } : {});
  if (granted?.length === 0) await query(at, sql`update api_keys set scopes = '{}' where id = ${id}`);
  const signedIn = await at.test.as(undefined, '/app/api').post('/sessions', { api_key: value });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const anyone = at.test.as(undefined, '');
  const bySession: Client = {
    ...anyone,
    raw: (method, path, body) =>
      anyone.raw(method, path, body, { headers: { cookie, 'sec-fetch-site': 'same-origin' } }),
  };
  return { role, granted, byKey: at.test.as(value, ''), bySession };
};

interface Operation {
  id: string;
  method: string;
  url: string;
}

/** Every operation on every base that has it, by the documents, without those for anyone. */
const operationsOf = async (at: Fixture): Promise<Operation[]> => {
  const documents = ['/api/v2', '/api/v1', '/app/api'].map(async (base) => {
    const { paths } = (await at.test.as(undefined, base).get('')).body;
    return Object.entries<Record<string, { operationId: string }>>(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        url: base + path.replace(/\{\w+\}/g, unknownId),
      })),
    );
  });
  return (await Promise.all(documents)).flat().filter(({ id }) => permissions.get(id)!.role !== 'anyone');
};

/** Of the scopes that do not decide about an operation, and of all other pairs, one in so many is tried. */
const [sampled, others] = process.env.SMALL_SAMPLES ? [30, 96] : [6, 24];

/**
 * Who sends the request of the `n`th pair of caller and operation. All pairs both ways would take half a minute, because
 * a refusal is a transaction. Each operation meets every scope with the role that it requires, in the short run only the
 * scopes that decide about it and a part of the others. Of the rest a few pairs will do: other roles, the same handlers
 * below /api/v1, and a session, which acts as its key.
 */
const chosen = (n: number, { role, granted, byKey, bySession }: Caller, { id, url }: Operation): Client[] => {
  const { role: needed, scope } = permissions.get(id)!;
  const decides = !granted?.length || granted.some((one) => scope?.startsWith(one.split(':')[0]!));
  const counts = decides || n % sampled === 0 || process.env.EVERY_PERMISSION !== undefined;
  const every = counts && needed === role && !url.startsWith('/api/v1/');
  // Without the session the next requests would be 401, and a session never counts for those that are for programs.
  const noSession = ['signOut', 'sendTraces', 'callAgent'].includes(id);
  return [
    ...(every || n % others === 0 ? [byKey] : []),
    ...(!noSession && n % others === others / 2 ? [bySession] : []),
  ];
};

/** Neither changes anything nor reads much: no id exists, and no body and no query is valid. */
const send = (client: Client, { method, url }: Operation): Promise<ClientResponse> =>
  client.raw(
    method,
    `${url}?limit=x&position=x&keep_current=x`,
    ['GET', 'DELETE'].includes(method) ? undefined : '[',
  );

describe('permissions', () =>
  withPlatform('postgres', (at) => {
    let operations: Operation[];
    beforeAll(async () => {
      await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 0 });
      operations = await operationsOf(at());
      expect(new Set(operations.map(({ id }) => id)).size).toBeGreaterThan(60);
    });

    test.each(roles)(
      'a key or session of a %s gets 403, naming what is missing, exactly where it lacks the role or scope',
      async (role) => {
        const callers = await Promise.all(grants.map((granted) => newCaller(at(), role, granted)));
        for (const [n, caller] of callers.entries()) {
          const check = async (operation: Operation, client: Client) => {
            const { role: needed, scope } = permissions.get(operation.id)!;
            const hasRole = roleAllows(role, needed as Role);
            const allowed = hasRole && scopesAllow(caller.granted, scope);
            const { status, text } = await send(client, operation);
            const by = client === caller.byKey ? 'key' : 'session';
            const where = `${by} [${caller.granted}] ${operation.method} ${operation.url} → ${status} ${text}`;
            expect(status === 403, where).toBe(!allowed);
            expect([401, 429].includes(status) || status >= 500, where).toBe(false);
            if (!allowed) expect(text, where).toContain(hasRole ? `scope ${scope}` : `role ${needed}`);
          };
          await Promise.all(
            operations.flatMap((operation, m) =>
              chosen(n + m, caller, operation).map((client) => check(operation, client)),
            ),
          );
        }
      },
      120_000,
    );
  }));
