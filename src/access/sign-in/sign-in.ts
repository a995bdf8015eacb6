import { auditRefused } from '../../audit/index.ts';
import type { Services } from '../../feature.ts';
import { sha256 } from '../../lib/crypto.ts';
import { counter } from '../../lib/metrics.ts';
import type { Actor } from '../../lib/principal.ts';
import { type Cookies, sessionCookie } from '../cookies.ts';
import { profileOf } from '../people/claims.ts';
import type { Identities } from '../people/identity.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { CallbackParameters, OidcClient, VerifiedSignIn } from './client.ts';
import type { OidcConfig } from './discovery.ts';
import { SignInError } from './failures.ts';
import {
  type Flow,
  flowCookie,
  flowCookiePrefix,
  flowSeconds,
  newFlow,
  openFlow,
  safeReturnTo,
  sealFlow,
} from './flow.ts';
import { insertUsedOnce } from './store.ts';

/** The most sign-ins that a browser may have in progress. More cookies would make its requests too large to be read. */
const mostFlows = 10;

export interface SignInParts extends Pick<Services, 'db' | 'vault' | 'log' | 'clock'> {
  oidc: OidcConfig;
  publicUrl: string;
  client: OidcClient;
  cookies: Cookies;
  identities: Identities;
  sessions: Sessions;
}

/**
 * The parameters with which the provider sent the browser back. `state` may be missing, and everything may be made up.
 */
export type Callback = Partial<CallbackParameters>;

/** The address to which the browser goes next, and the cookies that it is given. */
export interface Redirect {
  location: string;
  cookies: string[];
}

/** Signs people in with the provider: where it begins, and what happens when they come back. */
export class SignIn {
  readonly #parts: SignInParts;
  readonly outcomes = counter(
    'agent_platform_sign_ins_total',
    'Sign-ins with the identity provider that came back, by outcome: done, or the reason of the failure',
    ['outcome'],
  );

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** Begins a sign-in. Rejects with 503 while the provider cannot be used. */
  async start(returnTo: string | undefined, cookieHeader: string | undefined): Promise<Redirect> {
    const { vault, cookies, client, publicUrl, clock } = this.#parts;
    const flow = newFlow(safeReturnTo(returnTo, publicUrl), clock.now());
    const location = await client.authorizationUrl(flow);
    const abandoned = cookies.namesOf(cookieHeader, flowCookiePrefix).slice(0, 1 - mostFlows);
    return {
      location,
      cookies: [
        ...abandoned.map((name) => cookies.clear(name)),
        cookies.set(flowCookie(flow.state)!, sealFlow(vault, flow), flowSeconds),
      ],
    };
  }

  /** The cookie that a callback clears, whatever comes of it; null if the browser has none for it. */
  cookieToClear({ state }: Callback, cookieHeader: string | undefined): string | null {
    const { cookies } = this.#parts;
    const name = flowCookie(state);
    return name !== null && cookies.read(cookieHeader, name) !== undefined ? cookies.clear(name) : null;
  }

  /** Finishes a sign-in. Rejects with SignInError. The cookie of the flow is the caller's to clear. */
  async finish(callback: Callback, cookieHeader: string | undefined, actor: Actor): Promise<Redirect> {
    const { cookies, log } = this.#parts;
    try {
      const flow = await this.#takeFlow(callback, cookieHeader);
      const verified = await this.#parts.client.exchange({ ...callback, state: flow.state }, flow);
      const value = await this.#admit(verified, cookies.read(cookieHeader, sessionCookie), actor);
      this.outcomes.inc({ outcome: 'done' });
      return { location: flow.returnTo, cookies: [cookies.set(sessionCookie, value)] };
    } catch (error) {
      if (error instanceof SignInError) {
        this.outcomes.inc({ outcome: error.reason });
        log.warn(
          { request_id: actor.requestId, reason: error.reason, cause: error.logged },
          'a sign-in was refused',
        );
      }
      throw error;
    }
  }

  /** The sign-in of the browser that comes back. Each can be used once, also with a copy of its cookie. */
  async #takeFlow({ state }: Callback, cookieHeader: string | undefined): Promise<Flow> {
    const { db, vault, cookies, clock } = this.#parts;
    const name = flowCookie(state);
    const sealed = name === null ? undefined : cookies.read(cookieHeader, name);
    if (state === undefined || sealed === undefined)
      throw new SignInError('flow_expired', 'no cookie of this flow');
    const flow = openFlow(vault, sealed, state, clock.now());
    if (!flow) throw new SignInError('flow_expired', 'the cookie is another flow’s, or too old');
    const hash = sha256(`sign-in state ${state}`);
    if (!(await db.tx((tx) => insertUsedOnce(tx, hash, 2 * flowSeconds)))) {
      throw new SignInError('flow_expired', 'used already');
    }
    return flow;
  }

  /** Finds or makes the person and creates the session, in one transaction. Resolves to the cookie's value. */
  async #admit(verified: VerifiedSignIn, endValue: string | undefined, actor: Actor): Promise<string> {
    const { db, oidc, identities, sessions } = this.#parts;
    const { identity, tokens, sid } = verified;
    const { subject, claims } = identity;
    const { name } = profileOf(claims, subject, oidc.emailVerifiedClaim);
    // Not a principal yet: the entries say who the provider says it is.
    const arriving: Actor = {
      ...actor,
      principal: { ...actor.principal, kind: 'unknown', id: subject, name },
    };
    const result = await db.tx(async (tx) => {
      const found = await identities.signIn(tx, arriving, identity);
      const { details } = found;
      if (found.user === null) {
        const { reason, message } = found.refusal;
        await auditRefused(tx, arriving, 'session.create', null, { ...details, reason });
        return new SignInError(reason, 'refused by the rules for people', { message });
      }
      return sessions.create(tx, actor, {
        method: 'oidc',
        userId: found.user.id,
        providerSid: sid,
        ...tokens,
        endValue,
        details,
      });
    });
    sessions.onChange();
    if (result instanceof SignInError) throw result;
    return result.value;
  }
}
