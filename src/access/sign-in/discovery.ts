import { allowInsecureRequests, customFetch, discovery } from 'openid-client';
import { z } from 'zod';
import type { Services } from '../../feature.ts';
import { backOff } from '../../lib/back-off.ts';
import type { Egress } from '../../lib/egress.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { causeOf, SignInError } from './failures.ts';
import { providerFetch } from './provider-fetch.ts';

export type OidcConfig = NonNullable<Services['config']['oidc']>;

const everyMs = 3_600_000;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** The time for which a sign-in right after the start waits for the first discovery. */
const patienceMs = 2_000;

const asymmetric = /^(?:[RPE]S(?:256|384|512)|EdDSA|Ed25519|ML-DSA-(?:44|65|87))$/;

/** Signatures that only the provider can make: never `none`, never one that our secret makes. */
const algorithms = z
  .array(z.unknown())
  .default(['RS256'])
  .transform((listed) =>
    listed.filter((one): one is string => typeof one === 'string' && asymmetric.test(one)),
  )
  .refine((listed) => listed.length > 0);

const addresses = (protocol: RegExp) => {
  const address = z.string().refine((value) => URL.canParse(value) && protocol.test(value));
  // An optional endpoint that cannot be used is one that the provider does not have.
  return { address, optional: address.optional().catch(undefined) };
};

const strings = z.array(z.string()).optional().catch(undefined);

/** The part of the provider's metadata that the platform uses (OpenID Connect Discovery 1.0, section 3). */
const metadataOf = ({ issuer }: OidcConfig) => {
  const { address, optional } = addresses(issuer.startsWith('https:') ? /^https:\/\//i : /^https?:\/\//i);
  return z.object({
    issuer: z.literal(issuer),
    authorization_endpoint: address,
    token_endpoint: address,
    jwks_uri: address,
    userinfo_endpoint: address.optional(),
    end_session_endpoint: optional,
    revocation_endpoint: optional,
    id_token_signing_alg_values_supported: algorithms,
    scopes_supported: strings,
    token_endpoint_auth_methods_supported: strings,
    authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
  });
};

export type ProviderMetadata = z.output<ReturnType<typeof metadataOf>>;

/**
 * The metadata of the provider: read at the start, every hour, and when a token names an unknown key. A provider
 * that is down or wrong is asked again after 1 s to 60 s; the metadata read before stays.
 */
export class Discovery {
  readonly #oidc: OidcConfig;
  readonly #egress: Egress;
  readonly #log: Logger;
  readonly #schema: ReturnType<typeof metadataOf>;
  /** Runs the discovery; one for each replica that serves the API. */
  readonly loop: Loop;
  #metadata: ProviderMetadata | null = null;
  #cause: string | null = null;
  #failures = 0;
  #retryAt = 0;
  readonly #first = Promise.withResolvers<void>();

  constructor(oidc: OidcConfig, egress: Egress, log: Logger) {
    this.#oidc = oidc;
    this.#egress = egress;
    this.#log = log;
    this.#schema = metadataOf(oidc);
    this.loop = new Loop({
      name: 'identity provider',
      log,
      tick: async (signal) => {
        if (await this.discover(signal)) return everyMs;
        const waitMs = backOff(++this.#failures, firstRetryMs, longestRetryMs);
        this.#retryAt = performance.now() + waitMs;
        return waitMs;
      },
    });
  }

  /** The metadata as last read; null before the first. */
  get metadata(): ProviderMetadata | null {
    return this.#metadata;
  }

  /** Resolves to the metadata. Throws 503. */
  async get(): Promise<ProviderMetadata> {
    if (!this.#metadata) await withTimeout(this.#first.promise, patienceMs).catch(() => {});
    if (this.#metadata) return this.#metadata;
    const retryAfter = Math.max(1, Math.ceil((this.#retryAt - performance.now()) / 1000));
    throw new SignInError('provider_unavailable', this.#cause ?? 'no discovery yet', { retryAfter });
  }

  /** Asks the provider now. Resolves to whether its response can be used; one line in the log for each change. */
  async discover(signal?: AbortSignal): Promise<boolean> {
    const { metadata, cause } = await this.#read(signal);
    if (signal?.aborted) return false;
    if (metadata) {
      this.#metadata = metadata;
      this.#failures = 0;
    }
    if (cause !== this.#cause) {
      if (cause === null) this.#log.info('the identity provider responds again');
      else this.#log.warn({ cause }, 'the identity provider cannot be used');
    }
    this.#cause = cause;
    this.#first.resolve();
    return metadata !== null;
  }

  async #read(
    signal: AbortSignal | undefined,
  ): Promise<{ metadata: ProviderMetadata; cause: null } | { metadata: null; cause: string }> {
    const { issuer, clientId } = this.#oidc;
    let found: { issuer: string };
    try {
      // With the whole address the library compares no issuer, and it would compare loosely.
      const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
      const configuration = await discovery(url, clientId, undefined, undefined, {
        [customFetch]: providerFetch(this.#egress, undefined, signal),
        execute: issuer.startsWith('https:') ? [] : [allowInsecureRequests],
      });
      found = configuration.serverMetadata();
    } catch (error) {
      return { metadata: null, cause: causeOf(error) };
    }
    if (found.issuer !== issuer) {
      const itself = found.issuer.slice(0, 500);
      return {
        metadata: null,
        cause: `the provider calls itself ${itself}: set OIDC_ISSUER to exactly that`,
      };
    }
    const parsed = this.#schema.safeParse(found);
    if (parsed.success) return { metadata: parsed.data, cause: null };
    const fields = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
    return { metadata: null, cause: `its configuration has no usable ${fields.join(', ')}` };
  }
}
