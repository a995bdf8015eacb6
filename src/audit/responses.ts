import { z } from 'zod';
import { id, jsonObject, timestamp } from '../http/index.ts';
import type { Vault } from '../lib/crypto.ts';
import type { CheckpointRow } from './checkpoint-store.ts';
import { signedText } from './checkpoints.ts';
import type { AuditContext } from './entries.ts';
import type { AuditRow } from './store.ts';

export const audit = z
  .object({
    id,
    at: timestamp,
    principal: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
    action: z.string(),
    target_type: z.string(),
    target_id: z.string().nullable(),
    outcome: z.enum(['done', 'refused']),
    details: jsonObject,
    context: z
      .object({
        ip: z.string().nullable(),
        user_agent: z.string().nullable().describe('The first 200 characters.'),
        via: z.enum(['key', 'session', 'channel', 'system']),
        key_id: z.string().nullable(),
        session_id: z.string().nullable(),
      })
      .nullable()
      .describe('Where the request came from; null for entries of releases that did not record it.'),
    request_id: z.string().nullable(),
    position: z
      .int()
      .nullable()
      .describe('The position in the hash chain; null until the entry is chained, within a second.'),
    hash: z.string().nullable(),
  })
  .meta({ id: 'Audit' });

/** An entry as the API, an export and the copy on standard output show it. */
export const toResponse = ({ principal_kind, principal_id, principal_name, details, ...row }: AuditRow) => {
  const { context, ...shown } = details as Record<string, unknown> & { context?: AuditContext };
  const principal = { kind: principal_kind, id: principal_id, name: principal_name };
  return { ...row, details: shown, context: context ?? null, principal };
};

export const auditCheckpoint = z
  .object({
    position: z.int().describe('The entry that it signs, and with it all entries before.'),
    hash: z.string(),
    at: timestamp,
    key_id: z.string().describe('The key of ENCRYPTION_KEY from which the signing key is derived.'),
    public_key: z
      .string()
      .nullable()
      .describe('The Ed25519 public key in PEM (SPKI); null if `key_id` is not in ENCRYPTION_KEY any more.'),
    signature: z.string().describe('64 bytes in base64.'),
    signed_text: z
      .string()
      .describe('What is signed, in UTF-8: JSON with `position`, `hash`, `at` and more.'),
  })
  .meta({ id: 'AuditCheckpoint' });

export const checkpointResponse = (vault: Vault, row: CheckpointRow) => ({
  position: row.position,
  hash: row.hash,
  at: row.at,
  key_id: row.key_id,
  public_key: vault.publicKey(row.key_id),
  signature: row.signature,
  signed_text: signedText(row),
});

export const auditVerification = z
  .object({
    ok: z.boolean().describe('Whether the chain, every checkpoint and the anchor hold.'),
    checked: z.int().describe('The number of correct entries from the start of the chain.'),
    broken_at: z.int().nullable().describe('The first position that does not match; null if there is none.'),
    last_hash: z.string(),
    first_position: z.int().nullable().describe('Null if the chain is empty, like `last_position`.'),
    last_position: z.int().nullable(),
    unchained: z.int().describe('The number of entries that are not in the chain yet.'),
    checkpoints_checked: z.int().describe('The number of checkpoints whose signature is right.'),
    anchor: z
      .enum(['matches', 'differs', 'beyond_end', 'before_retention'])
      .nullable()
      .describe('Whether the entry at `position` still has this hash; null without the parameters.'),
  })
  .meta({ id: 'AuditVerification' });

export const partVerification = auditVerification
  .omit({ last_hash: true })
  .extend({
    checked: z.int().describe('The number of correct entries in this part.'),
    position: z.int().describe('The last entry that was found right; 0 if none was.'),
    hash: z.string().describe('Its hash.'),
    done: z.boolean().describe('Whether there is no next part: the chain ends here, or is broken.'),
  })
  .meta({ id: 'AuditPartVerification' });
