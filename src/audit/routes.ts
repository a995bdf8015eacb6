import { z } from 'zod';
import type { Database } from '../database/index.ts';
import {
  id,
  jsonObject,
  pageOf,
  pageOrOffsetQuery,
  type Route,
  readCursor,
  route,
  timestamp,
  toPage,
} from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { verifyChain } from './chain.ts';
import { type AuditRow, listAudits } from './store.ts';

const audit = z
  .object({
    id,
    at: timestamp,
    principal: z.object({ kind: z.string(), id: z.string(), name: z.string() }),
    action: z.string(),
    target_type: z.string(),
    target_id: z.string().nullable(),
    outcome: z.enum(['done', 'refused']),
    details: jsonObject,
    request_id: z.string().nullable(),
    position: z
      .int()
      .nullable()
      .describe('Its place in the hash chain; null for the moment before it is chained.'),
    hash: z.string().nullable(),
  })
  .meta({ id: 'Audit' });

const present = ({ principal_kind, principal_id, principal_name, details, ...row }: AuditRow) => ({
  ...row,
  details: details as Record<string, unknown>,
  principal: { kind: principal_kind, id: principal_id, name: principal_name },
});

const filter = z.object({
  principal_id: z.string().optional().describe('What this principal did.'),
  action: z.string().optional().describe('What was done, such as `schedule.create`.'),
  target_type: z.string().optional().describe('To what kind of thing, such as `schedule`.'),
  target_id: z.string().optional().describe('To what, by its id.'),
  outcome: z.enum(['done', 'refused']).optional(),
});

export const auditRoutes = (db: Database): Route[] => [
  route({
    id: 'listAudits',
    method: 'GET',
    path: '/audits',
    tag: 'Audit log',
    summary: 'The audit log, newest first',
    query: pageOrOffsetQuery.extend(filter.shape),
    response: pageOf('AuditPage', audit),
    handler: async ({ query: { limit, offset, next, ...rest } }) => {
      if (next && offset !== undefined) {
        throw unprocessable([{ path: 'offset', message: 'cannot be used together with next' }]);
      }
      const page = { limit, offset: offset ?? 0, before: readCursor(next) };
      return toPage(await db.run((executor) => listAudits(executor, rest, page)), limit, present);
    },
  }),
  route({
    id: 'verifyAudits',
    method: 'GET',
    path: '/audits/verify',
    tag: 'Audit log',
    summary: 'Recompute the hash chain of the audit log',
    response: z
      .object({ ok: z.boolean(), checked: z.int(), broken_at: z.int().nullable(), last_hash: z.string() })
      .meta({ id: 'AuditVerification' }),
    handler: () => verifyChain(db),
  }),
];
