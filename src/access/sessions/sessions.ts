import { randomBytes } from 'node:crypto';
import { audit, auditAll } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { type SealedColumn, sha256, type Vault } from '../../lib/crypto.ts';
import { ApiError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Actor, Principal } from '../../lib/principal.ts';
import { notifyAccessChanged } from '../changed.ts';
import { lockKeyForShare } from '../keys/store.ts';
import { findUser } from '../people/store.ts';
import { personPrincipal } from './session-principal.ts';
import {
  type DeletedSession,
  deleteOldestSessions,
  deleteSessions,
  type EndedSessions,
  insertSession,
} from './store.ts';

/** The most sessions of a principal: of more, the oldest ends. */
const mostSessions = 50;
const maxUserAgent = 200;

/** The reason why a session ended, for the audit log. */
export type EndReason = 'sign_out' | 'revoked' | 'back_channel' | 'provider_refused' | 'role_lost';

interface NewSession {
  /** The value of the cookie that the browser had: its session ends. */
  endValue: string | undefined;
  /** For the audit entry. */
  details?: Record<string, unknown>;
}

/** A sign-in with the provider, of a person who has a role. The tokens are stored sealed. */
export interface ProviderSession extends NewSession {
  method: 'oidc';
  userId: string;
  providerSid: string | null;
  idToken: string | null;
  refreshToken: string | null;
}

/** A sign-in with a key, and who the key acts as. */
export interface KeySession extends NewSession {
  method: 'api_key';
  principal: Principal;
  /** The SHA-256 of the bootstrap key if it is that one, else null. */
  bootstrapHash: string | null;
}

/** A session as it was created, with the value of its cookie, which is stored as a hash only. */
export interface CreatedSession {
  id: string;
  value: string;
  principal: Principal;
}

/** Returns whether `value` has the form of a cookie's value; one without it is refused without a query. */
export const isSessionValue = (value: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(value);

const keyColumns = ({ principal, bootstrapHash }: KeySession) => ({
  key_id: bootstrapHash === null ? principal.keyId : null,
  bootstrap_hash: bootstrapHash,
  provider_sid: null,
  id_token: null,
  refresh_token: null,
});

/** Who a session acts as. Throws 401 if its key was deleted in the meantime. */
const principalOf = async (tx: Tx, session: ProviderSession | KeySession): Promise<Principal> => {
  if (session.method === 'oidc') {
    const user = await findUser(tx, session.userId);
    if (!user?.role) throw new Error('a session needs a person with a role');
    return personPrincipal(user.id, user.name, user.role);
  }
  const { principal, bootstrapHash } = session;
  if (bootstrapHash === null && !(await lockKeyForShare(tx, principal.keyId!))) {
    throw new ApiError('unauthorized', 'The API key was revoked.');
  }
  return principal;
};

/** The sealed columns of a session. */
export type TokenColumn = 'id_token' | 'refresh_token';
const boundTo = (column: TokenColumn, id: string): string => `sessions:${id}:${column}`;

/**
 * Begins and ends sessions, and writes both to the audit log. Each ending notifies the replicas when its transaction
 * commits; call `onChange` after the commit, so that it is in effect here at once.
 */
export class Sessions {
  readonly #vault: Vault;
  /** To be called after the transaction of an ending has committed. */
  readonly onChange: () => void;
  readonly secrets: readonly SealedColumn[] = (['id_token', 'refresh_token'] as const).map((column) => ({
    table: 'sessions',
    column,
    boundTo: (id) => boundTo(column, id),
  }));

  constructor(vault: Vault, onChange: () => void) {
    this.#vault = vault;
    this.onChange = onChange;
  }

  /** Encrypts a token for the session `id`; null stays null. */
  seal(token: string | null, column: TokenColumn, id: string): string | null {
    return token === null ? null : this.#vault.seal(token, boundTo(column, id));
  }

  /** Decrypts a token of the session `id`; null stays null. */
  open<T extends string | null>(sealed: T, column: TokenColumn, id: string): T;
  open(sealed: string | null, column: TokenColumn, id: string): string | null {
    return sealed === null ? null : this.#vault.open(sealed, boundTo(column, id));
  }

  /**
   * Creates a session and ends the one that the browser had. Sign-ins run one after the other, under the lock `access`.
   * The caller clears and sets the cookie. Throws 401 if the key of the session was deleted in the meantime.
   */
  async create(tx: Tx, actor: Actor, session: ProviderSession | KeySession): Promise<CreatedSession> {
    // Otherwise two at once could exceed the number of sessions.
    await advisoryLock(tx, 'access');
    const { method, endValue, details } = session;
    const id = newId();
    const value = randomBytes(32).toString('base64url');
    const principal = { ...(await principalOf(tx, session)), sessionId: id };
    const replaced = endValue === undefined ? [] : await deleteSessions(tx, { valueHash: sha256(endValue) });
    await insertSession(tx, {
      id,
      value_hash: sha256(value),
      principal_id: principal.id,
      method,
      user_id: principal.kind === 'person' ? principal.id : null,
      ip: actor.ip,
      user_agent: actor.userAgent?.slice(0, maxUserAgent) ?? null,
      ...(method === 'oidc' ? this.#providerColumns(id, session) : keyColumns(session)),
    });
    const oldest = await deleteOldestSessions(tx, principal.id, mostSessions);
    const ended = [...replaced.map((row) => row.id), ...oldest];
    if (ended.length > 0) await notifyAccessChanged(tx);
    await audit(tx, { ...actor, principal }, 'session.create', id, {
      method,
      ...details,
      ...(ended.length > 0 ? { ended_sessions: ended } : {}),
    });
    return { id, value, principal };
  }

  #providerColumns(id: string, { providerSid, idToken, refreshToken }: ProviderSession) {
    return {
      key_id: null,
      bootstrap_hash: null,
      provider_sid: providerSid,
      id_token: this.seal(idToken, 'id_token', id),
      refresh_token: this.seal(refreshToken, 'refresh_token', id),
    };
  }

  /** Ends the sessions that `which` names. Returns how many there were. */
  async endOf(tx: Tx, actor: Actor, which: EndedSessions, reason: EndReason): Promise<number> {
    return (await this.end(tx, actor, which, reason)).length;
  }

  /** Ends the sessions that `which` names, and returns them. `details` are added to their audit entries. */
  async end(
    tx: Tx,
    actor: Actor,
    which: EndedSessions,
    reason: EndReason,
    details: Record<string, unknown> = {},
  ): Promise<DeletedSession[]> {
    const ended = await deleteSessions(tx, which);
    if (ended.length === 0) return ended;
    await notifyAccessChanged(tx);
    await auditAll(
      tx,
      actor,
      ended.map(({ id, method, principal_id, user_id }) => ({
        action: 'session.end',
        targetId: id,
        details: { reason, method, principal_id, user_id, ...details },
      })),
    );
    return ended;
  }
}
