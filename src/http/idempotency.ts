import { z } from 'zod';
import { sql, type Tx } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256, type Vault } from '../lib/crypto.ts';
import { unprocessable } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';

declare module '../database/database.ts' {
  interface Schema {
    idempotency_keys: {
      principal_id: string;
      key: string;
      request_hash: string;
      answer: string | null;
      created_at: Date;
    };
  }
}

/** A response as it is stored: encrypted, because it may contain what only its caller may see. */
export interface StoredResponse {
  /** Absent in responses that were stored before it was: then it is that of the route. */
  status?: number;
  body: unknown;
  etag: string | null;
}

/** Thrown out of the transaction if the same request succeeded before, with its response. It is not a failure. */
export class IdempotentReplay {
  readonly response: StoredResponse;
  constructor(response: StoredResponse) {
    this.response = response;
  }
}

/** The same schema, in which every property of an object may be absent, at any depth. */
const withoutRequired = (schema: z.ZodType): z.ZodType => {
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape as Record<string, z.ZodType>);
    return z.object(Object.fromEntries(shape.map(([name, one]) => [name, withoutRequired(one).optional()])));
  }
  // The property that tells the options apart was stored.
  if (schema instanceof z.ZodDiscriminatedUnion) {
    return z.union((schema.options as readonly z.ZodType[]).map(withoutRequired));
  }
  if (schema instanceof z.ZodArray) return z.array(withoutRequired(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return withoutRequired(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return withoutRequired(schema.unwrap() as z.ZodType).optional();
  return schema;
};

/**
 * Parses a stored response by the response schema of its route. One that the release before stored lacks the fields that
 * this release added: it is sent without them, as it was the first time.
 */
export const parseStored = (schema: z.ZodType, body: unknown): unknown => {
  const parsed = schema.safeParse(body);
  return parsed.success ? parsed.data : withoutRequired(schema).parse(body);
};

/** Two requests with the same hash are the same: operation, path and body are equal, apart from the order of keys. */
export const requestHash = (operation: string, params: Record<string, string>, body: unknown): string =>
  sha256(`${operation}\n${canonicalJson(params)}\n${canonicalJson(body)}`);

/** Throws 422 unless the key has 1 to 255 visible ASCII characters. */
export const checkIdempotencyKey = (key: string): void => {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw unprocessable([{ path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
  }
};

/**
 * Runs `fn` once for a key and principal within 24 h. The row of the key is inserted first, so that of two equal
 * requests at once the second waits until the first commits, on any replica, and then throws IdempotentReplay. Another
 * request with the same key is a 422. A failure rolls the row back: only successes are stored.
 */
export const withIdempotencyKey = async <T>(
  tx: Tx,
  vault: Vault,
  key: { principalId: string; key: string; hash: string },
  fn: () => Promise<T>,
  toStored: (result: T) => StoredResponse,
): Promise<T> => {
  const boundTo = `idempotency_keys:${key.principalId}:${key.key}`;
  await sql`delete from idempotency_keys where principal_id = ${key.principalId} and key = ${key.key}
    and created_at < platform_now() - interval '24 hours'`.execute(tx);
  const inserted = await sql`insert into idempotency_keys (principal_id, key, request_hash)
    values (${key.principalId}, ${key.key}, ${key.hash}) on conflict do nothing returning 1`.execute(tx);
  if (inserted.rows.length === 0) {
    const { rows } = await sql<{ request_hash: string; answer: string }>`select request_hash, answer
      from idempotency_keys where principal_id = ${key.principalId} and key = ${key.key}`.execute(tx);
    const before = rows[0];
    if (before?.request_hash !== key.hash) {
      throw unprocessable([
        { path: 'Idempotency-Key', message: 'was used before for another request; use a new key' },
      ]);
    }
    throw new IdempotentReplay(parseJson(vault.open(before.answer, boundTo)) as StoredResponse);
  }
  const result = await fn();
  await sql`update idempotency_keys set answer = ${vault.seal(JSON.stringify(toStored(result)), boundTo)}
    where principal_id = ${key.principalId} and key = ${key.key}`.execute(tx);
  return result;
};

/** Deletes at most `limit` keys that are older than 24 h. Returns how many it deleted. */
export const deleteExpiredKeys = async (tx: Tx, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from idempotency_keys where (principal_id, key) in (
    select principal_id, key from idempotency_keys where created_at < platform_now() - interval '24 hours'
    limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
