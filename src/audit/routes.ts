import { z } from 'zod';
import type { Database } from '../database/index.ts';
import {
  id,
  jsonObject,
  listPage,
  pageOf,
  pageOrOffsetQuery,
  type Route,
  route,
  timestamp,
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
      .describe('The position in the hash chain; null until the entry is chained, within a second.'),
    hash: z.string().nullable(),
  })
  .meta({ id: 'Audit' });

const toResponse = ({ principal_kind, principal_id, principal_name, details, ...row }: AuditRow) => ({
  ...row,
  details: details as Record<string, unknown>,
  principal: { kind: principal_kind, id: principal_id, name: principal_name },
});

const filter = z.object({
  principal_id: z.string().optional().describe('Only what this principal did.'),
  action: z.string().optional().describe('Only this action, such as `schedule.create`.'),
  target_type: z.string().optional().describe('Only changes of this kind of resource, such as `schedule`.'),
  target_id: z.string().optional().describe('Only changes of the resource with this id.'),
  outcome: z.enum(['done', 'refused']).optional(),
});

export const auditRoutes = (db: Database): Route[] => [
  route({
    id: 'listAudits',
    role: 'admin',
    method: 'GET',
    path: '/audits',
    summary: 'List audit log entries',
    query: pageOrOffsetQuery.extend(filter.shape),
    response: pageOf('AuditPage', audit),
    handler: listPage(
      db,
      (executor, { offset, ...query }) => {
        if (query.next !== null && offset !== undefined) {
          throw unprocessable([{ path: 'offset', message: 'cannot be used together with next' }]);
        }
        return listAudits(executor, { ...query, offset: offset ?? 0 });
      },
      toResponse,
    ),
  }),
  route({
    id: 'verifyAudits',
    role: 'admin',
    method: 'GET',
    path: '/audits/verify',
    summary: 'Verify the audit log',
    description:
      'Computes the hash chain again and compares. `broken_at` is the first position that does not match.',
    response: z
      .object({ ok: z.boolean(), checked: z.int(), broken_at: z.int().nullable(), last_hash: z.string() })
      .meta({ id: 'AuditVerification' }),
    handler: () => verifyChain(db),
  }),
];
