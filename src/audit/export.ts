import type { z } from 'zod';
import type { Database } from '../database/index.ts';
import { type Context, optionalQueryInteger, queryInteger } from '../http/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { findNewestCheckpoint } from './checkpoint-store.ts';
import { audit } from './entries.ts';
import { auditFilter, mostPosition } from './filter.ts';
import { type AuditFilter, type AuditMatch, listChainedBetween } from './list-store.ts';
import { checkpointResponse, toResponse } from './responses.ts';
import { findExtent } from './store.ts';

/** The number of positions that one statement looks at, however few entries match: no statement takes long. */
const window = 1_000;

/**
 * The entries of the chain after the position `after` that match `filter`, at most `limit`, as lines of JSON in the
 * order of the chain; the last line is the newest checkpoint. It ends with what was in the chain when it began. No
 * transaction is open between two reads.
 */
async function* exportLines(
  { db, vault }: { db: Database; vault: Vault },
  filter: AuditFilter,
  { after, limit }: { after: number; limit: number },
): AsyncGenerator<string> {
  const { first_position, last_position } = await db.run(findExtent);
  const end = last_position ?? 0;
  let left = limit;
  for (
    let position = Math.max(after, (first_position ?? 1) - 1);
    position < end && left > 0;
    position += window
  ) {
    const to = Math.min(position + window, end);
    const rows = await db.run((executor) => listChainedBetween(executor, filter, position, to));
    const taken = rows.slice(0, left);
    left -= taken.length;
    if (taken.length > 0) yield taken.map((row) => `${JSON.stringify(toResponse(row))}\n`).join('');
  }
  const newest = await db.run(findNewestCheckpoint);
  yield `${JSON.stringify({ checkpoint: newest ? checkpointResponse(vault, newest) : null })}\n`;
}

export const exportQuery = auditFilter.extend({
  after_position: queryInteger(0, mostPosition, 0).describe('Only entries after this position of the chain.'),
  limit: optionalQueryInteger(1, mostPosition).describe('At most this many entries.'),
});

/** The search that an export is limited to: the text, and what it finds. */
export interface ExportSearch {
  q: string;
  any: AuditMatch;
}

/** Writes an entry about the export, and returns its lines. */
export const exportEntries = async (
  parts: { db: Database; vault: Vault },
  { actor, transaction }: Pick<Context, 'actor' | 'transaction'>,
  { after_position: after, limit, ...filters }: z.output<typeof exportQuery>,
  search?: ExportSearch,
): Promise<AsyncIterable<string>> => {
  const shown = { ...filters, ...(search && { q: search.q }) };
  await transaction((tx) =>
    audit(tx, actor, 'audit.export', null, {
      filters: shown,
      after_position: after,
      limit: limit ?? null,
    }),
  );
  return exportLines(parts, { ...filters, any: search?.any }, { after, limit: limit ?? mostPosition });
};
