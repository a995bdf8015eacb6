import type { Tx } from '../database/index.ts';
import type { Principal, Scope } from '../lib/principal.ts';
import type { OwnerIds } from './store.ts';

/** A conversation or a Work Item that a path names. */
interface Owner {
  ids: OwnerIds;
  agentId: string;
}

/** A kind of owner: how paths name it, and what must hold to change its files. */
export interface OwnerKind {
  /** Name in the ids of operations: `listConversationFiles`. */
  name: 'Conversation' | 'WorkItem';
  text: string;
  path: string;
  scope: { read: Scope; write: Scope };
  /** Loads what the path names, for a caller who may see it. Throws its 404s and 400s. */
  find: (request: { params: Record<string, string>; principal: Principal }) => Promise<Owner>;
  /** Keeps the owner from being deleted before the transaction ends. Throws 404 if it is gone. */
  lock: (tx: Tx, owner: OwnerIds) => Promise<void>;
  /** Locks as `lock` does. Throws 412 too, if the files of the owner may not be changed now. */
  lockForFiles: (tx: Tx, owner: OwnerIds) => Promise<void>;
}
