import type { z } from 'zod';
import type { Feature, Services } from '../feature.ts';
import type { Context } from '../http/index.ts';
import { writeLines } from '../lib/log.ts';
import { auditAttention } from './attention.ts';
import { chainLoop } from './chain.ts';
import { signAgain, Witness } from './checkpoints.ts';
import { copyLoop } from './copy.ts';
import { type ExportSearch, exportEntries, type exportQuery } from './export.ts';
import { auditRetention } from './retention.ts';
import { auditRoutes } from './routes.ts';

export { audit, auditAll, auditInsertion, auditRefusal, auditRefused } from './entries.ts';
export { exportQuery as auditExportQuery } from './export.ts';
export { findFacets } from './facet-store.ts';
export { auditFilter } from './filter.ts';
export { listAudits } from './list-store.ts';
export { audit as auditEntry, toResponse as toAuditEntry } from './responses.ts';
export { findChainState } from './state.ts';
export { findAuditedSince } from './store.ts';

export interface Audit extends Feature {
  /** The line of the Overview about the chain. */
  attention: typeof auditAttention;
  /** Writes an entry about an export, and returns its lines: those that the query and the search find. */
  exportEntries(
    context: Pick<Context, 'actor' | 'transaction'>,
    query: z.output<typeof exportQuery>,
    search?: ExportSearch,
  ): Promise<AsyncIterable<string>>;
}

/** The audit log: who changed what, the hash chain over it, and the signed checkpoints of the chain. */
export const createAudit = ({ config, db, vault, log }: Services): Audit => {
  const parts = { db, vault, log, witness: new Witness() };
  const copy = config.auditToLog ? copyLoop(parts, writeLines) : null;
  return {
    tag: {
      name: 'Audit log',
      description: 'Who changed what: append-only, hash-chained, with signed checkpoints.',
    },
    routes: auditRoutes(parts),
    retention: [auditRetention(parts)],
    loops: [chainLoop(parts, () => copy?.wake()), ...(copy ? [copy] : [])],
    start: () => signAgain(db, vault),
    attention: auditAttention,
    exportEntries: (context, query, search) => exportEntries(parts, context, query, search),
  };
};
