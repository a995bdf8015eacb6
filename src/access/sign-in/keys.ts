import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import type { Egress } from '../../lib/egress.ts';
import type { Discovery } from './discovery.ts';
import { causeOf, SignInError } from './failures.ts';
import { providerFetch } from './provider-fetch.ts';

/** The life of the cached keys, in milliseconds. A key that the provider withdrew is not trusted for longer. */
const freshMs = 300_000;
/** The least time between two searches for an unknown key, in milliseconds: anyone can name one. */
const unknownEveryMs = 60_000;

const jwks = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(1_000),
});

/** The provider's public keys, cached. */
export class ProviderKeys {
  readonly #discovery: Discovery;
  readonly #egress: Egress;
  #cached: { keys: JSONWebKeySet; readAt: number } | null = null;
  #reading: Promise<JSONWebKeySet> | null = null;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(discovery: Discovery, egress: Egress) {
    this.#discovery = discovery;
    this.#egress = egress;
  }

  /** Resolves to the keys, among them `kid` if the provider has it. Throws 503 `provider_unavailable`. */
  async get(kid: string | undefined): Promise<JSONWebKeySet> {
    const cached = this.#cached;
    if (!cached || performance.now() - cached.readAt > freshMs) return this.#readOnce();
    const known = kid === undefined || cached.keys.keys.some((key) => key.kid === kid);
    if (known || performance.now() - this.#searchedAt < unknownEveryMs) return this.#reading ?? cached.keys;
    this.#searchedAt = performance.now();
    return this.#readOnce(true);
  }

  /** Reads the keys, or waits for the reading in progress. `rediscover`: they may be at another address now. */
  #readOnce(rediscover = false): Promise<JSONWebKeySet> {
    this.#reading ??= this.#read(rediscover).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(rediscover: boolean): Promise<JSONWebKeySet> {
    if (rediscover) await this.#discovery.discover();
    const { jwks_uri: url } = await this.#discovery.get();
    try {
      const fetch = providerFetch(this.#egress);
      const headers = { accept: 'application/json, application/jwk-set+json' };
      const response = await fetch(url, { method: 'GET', headers, body: null, redirect: 'manual' });
      if (response.status !== 200) throw new SignInError('provider_unavailable', `status ${response.status}`);
      const parsed = jwks.safeParse(await response.json().catch(() => null));
      if (!parsed.success) throw new SignInError('provider_unavailable', 'no JSON Web Key Set');
      const keys = parsed.data as JSONWebKeySet;
      this.#cached = { keys, readAt: performance.now() };
      return keys;
    } catch (error) {
      throw new SignInError('provider_unavailable', `the keys of the provider: ${causeOf(error)}`);
    }
  }
}
