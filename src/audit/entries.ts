import { json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';

/** The origin of an entry. Entries of releases before it have none. */
export interface AuditContext {
  /** The address of the client, behind trusted proxies; null if the platform itself acted, like `user_agent`. */
  ip: string | null;
  /** The first 200 characters. */
  user_agent: string | null;
  /** `session` also for a sign-in, `key` also for the bootstrap key; `channel`: by a click in a channel. */
  via: 'key' | 'session' | 'channel' | 'system';
  key_id: string | null;
  session_id: string | null;
}

const userAgentCharacters = 200;

const viaOf = ({ kind, keyId, sessionId }: Actor['principal']): AuditContext['via'] => {
  if (kind === 'system') return 'system';
  return keyId !== null && sessionId === null ? 'key' : 'session';
};

const contextOf = ({ principal, ip, userAgent, via }: Actor): AuditContext => ({
  ip,
  user_agent: userAgent?.slice(0, userAgentCharacters) ?? null,
  via: via ?? viaOf(principal),
  key_id: principal.keyId,
  session_id: principal.sessionId,
});

interface NewEntry {
  /** `resource.verb`, such as `schedule.create`. */
  action: string;
  targetId: string | null;
  /** Describes the change. It never contains a secret, only its `fingerprint` (lib/crypto.ts). */
  details?: Record<string, unknown>;
  /** The resource that `action` begins with, unless given. */
  targetType?: string;
  outcome?: 'done' | 'refused';
}

/** The number of entries that one statement inserts: few enough that their JSON stays in the range of a megabyte. */
const batch = 2_000;

const resourceOf = (action: string): string => action.slice(0, action.indexOf('.'));

let writtenAt = Number.NEGATIVE_INFINITY;
const onWrites = new Set<() => void>();

/** The entries that this process writes. Transactions of other replicas have a replica of their own that looks. */
export const ownWrites = {
  /** The time since the last one, in milliseconds; its transaction may not be committed yet. */
  idleMs: (): number => performance.now() - writtenAt,
  /** Calls `listener` for each, before it is committed. */
  onWrite: (listener: () => void): void => void onWrites.add(listener),
  off: (listener: () => void): void => void onWrites.delete(listener),
};

/**
 * The statement that inserts these entries in their order, also as a part of a larger one. The context of the actor is
 * stored inside `details`, because the hash of the chain covers a fixed list of columns.
 */
export const auditInsertion = (actor: Actor, entries: readonly NewEntry[]): RawBuilder<unknown> => {
  writtenAt = performance.now();
  for (const listener of onWrites) listener();
  const { principal, requestId } = actor;
  const context = contextOf(actor);
  const rows = entries.map((entry) => ({
    id: newId(),
    action: entry.action,
    target_type: entry.targetType ?? resourceOf(entry.action),
    target_id: entry.targetId,
    outcome: entry.outcome ?? 'done',
    details: { ...entry.details, context },
  }));
  return sql`insert into audits (id, principal_kind, principal_id, principal_name, action, target_type, target_id,
      outcome, details, request_id)
    select id, ${principal.kind}, ${principal.id}, ${principal.name}, action, target_type, target_id, outcome, details,
      ${requestId}
    from jsonb_to_recordset(${json(rows)}::jsonb)
      as entry(id uuid, action text, target_type text, target_id text, outcome text, details jsonb)`;
};

/** Writes many entries of the audit log in few statements, in the transaction of the change. */
export const auditAll = async (tx: Tx, actor: Actor, entries: readonly NewEntry[]): Promise<void> => {
  for (let begin = 0; begin < entries.length; begin += batch) {
    await auditInsertion(actor, entries.slice(begin, begin + batch)).execute(tx);
  }
};

/** Writes one entry of the audit log, in the transaction of the change (`NewEntry` says what the parameters are). */
export const audit = (
  tx: Tx,
  actor: Actor,
  action: string,
  targetId: string | null,
  details?: Record<string, unknown>,
  targetType?: string,
): Promise<void> =>
  auditAll(tx, actor, [{ action, targetId, ...(details && { details }), ...(targetType && { targetType }) }]);

/** Writes that `actor` was refused what `action` names, such as a sign-in. */
export const auditRefused = (
  tx: Tx,
  actor: Actor,
  action: string,
  targetId: string | null,
  details: Record<string, unknown>,
): Promise<void> => auditAll(tx, actor, [{ action, targetId, details, outcome: 'refused' }]);

/** Writes that the operation `operationId` at `path` was refused to `actor`; `details`: how often, if there were more. */
export const auditRefusal = (
  tx: Tx,
  actor: Actor,
  operationId: string,
  path: string,
  details: Record<string, unknown> = {},
): Promise<void> =>
  auditAll(tx, actor, [
    {
      action: operationId,
      targetType: 'operation',
      targetId: path.slice(0, 500),
      outcome: 'refused',
      details,
    },
  ]);
