import { z } from 'zod';
import {
  type Audit,
  auditEntry,
  auditExportQuery,
  auditFilter,
  findFacets,
  listAudits,
} from '../../audit/index.ts';
import type { Database } from '../../database/index.ts';
import {
  id,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  streamRoute,
  text,
} from '../../http/index.ts';
import { matchOf, toEntries } from './audits.ts';

const entry = auditEntry
  .extend({
    target: z
      .object({
        name: z.string().nullable(),
        agent_id: id.nullable().describe('The agent of a schedule or conversation.'),
      })
      .nullable()
      .describe('What it was done to, as it is now; null if that is gone or has no page.'),
  })
  .meta({ id: 'AuditEntry' });

const facets = z
  .object({
    actions: z.array(z.string()),
    principals: z.array(z.object({ kind: z.string(), id: z.string(), name: z.string() })),
    target_types: z.array(z.string()),
  })
  .meta({ id: 'AuditFacets' });

const common = { role: 'admin', scope: 'audit:read', base: 'app', cache: 'never' } as const;

const q = text(200)
  .transform((q) => q.trim())
  .optional()
  .describe(
    'A part of the action, of the name of who did it or of what it was done to, or one of their ids or that of the request.',
  );

export const auditListRoutes = (db: Database, { exportEntries }: Pick<Audit, 'exportEntries'>): Route[] => [
  jsonRoute({
    ...common,
    id: 'listAuditEntries',
    request: 'GET /audits',
    summary: 'List audit log entries with what they were done to',
    description: 'Newest first.',
    query: pageQuery.extend(auditFilter.shape).extend({ q }),
    response: pageOf('AuditEntryPage', entry),
    handler: listPage(db, async (executor, { q, ...query }, { principal }) => {
      const any = q ? await matchOf(executor, q, principal) : undefined;
      return toEntries(executor, await listAudits(executor, { ...query, any, offset: 0 }));
    }),
  }),
  jsonRoute({
    ...common,
    id: 'getAuditFacets',
    request: 'GET /audits/facets',
    summary: 'Get what the audit log can be filtered by',
    description:
      'The actions, those who did them, and the kinds of what they were done to: at most 1,000 of each.',
    response: facets,
    handler: () => db.run(findFacets),
  }),
  streamRoute({
    ...common,
    id: 'exportAuditEntries',
    request: 'GET /audits/export',
    summary: 'Export audit log entries that a search finds',
    description: 'As the export of the API, and with `q`.',
    query: auditExportQuery.extend({ q }),
    type: 'application/x-ndjson',
    saveAs: 'audit-log.ndjson',
    handler: async ({ query: { q, ...query }, principal, actor, transaction }) => {
      const search = q ? { q, any: await db.run((executor) => matchOf(executor, q, principal)) } : undefined;
      return exportEntries({ actor, transaction }, query, search);
    },
  }),
];
