import { audit } from '../../audit/index.ts';
import { advisoryLock, type Database, databaseNow } from '../../database/index.ts';
import { fingerprint, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { systemActor } from '../../lib/principal.ts';
import { keyPrefix } from './key-format.ts';
import { countKeys, findKeyByHash, insertKey } from './store.ts';

/**
 * The life of the first key, in milliseconds. A log that keeps what a container prints would otherwise keep an
 * administrator. The key may make keys that work longer (`lockMaker`): that is its purpose.
 */
const lifeMs = 24 * 3_600_000;

/**
 * At the first start, when there is no key, creates a service-account key of an admin with this value and returns the
 * value, to be printed this once. Returns null at every later start. If replicas start together, one of them creates
 * the key. May be called again with the same value: if a commit got no response, the key may exist.
 */
export const createFirstKey = (db: Database, value: string): Promise<string | null> =>
  db.tx(async (tx) => {
    await advisoryLock(tx, 'first key');
    if (await findKeyByHash(tx, sha256(value))) return value;
    if ((await countKeys(tx)) > 0) return null;
    const id = newId();
    const expires_at = new Date((await databaseNow(tx)) + lifeMs);
    await insertKey(tx, {
      id,
      name: 'first administrator',
      kind: 'service_account',
      role: 'admin',
      user_id: null,
      value_hash: sha256(value),
      prefix: keyPrefix(value),
      created_by: systemActor.principal.id,
      expires_at,
      scopes: null,
      account_id: null,
      owner: 'workspace',
      owner_user_id: null,
      made_by_user_id: null,
      made_with_key_id: null,
      rotated_by_user_id: null,
      rotated_with_key_id: null,
      root_id: null,
      first_end: null,
    });
    await audit(tx, systemActor, 'api_key.create', id, {
      name: 'first administrator',
      role: 'admin',
      value: fingerprint(value),
      expires_at,
    });
    return value;
  });
