import { z } from 'zod';
import {
  jsonRoute,
  listPage,
  optionalQueryInteger,
  pageOf,
  pageOrOffsetQuery,
  queryInteger,
  type Route,
  streamRoute,
} from '../http/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import type { ChainParts } from './chain.ts';
import { findNewestCheckpoint } from './checkpoint-store.ts';
import { exportEntries, exportQuery } from './export.ts';
import { auditFilter, mostPosition } from './filter.ts';
import { listAudits } from './list-store.ts';
import {
  audit,
  auditCheckpoint,
  auditVerification,
  checkpointResponse,
  partVerification,
  toResponse,
} from './responses.ts';
import { type Anchor, verifyChain } from './verify.ts';
import { verifyPart } from './verify-part.ts';

const anchor = z.object({
  position: optionalQueryInteger(1, mostPosition).describe(
    'A position that you noted earlier, with its `hash`.',
  ),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits')
    .transform((hash) => hash.toLowerCase())
    .optional(),
});

type Anchored = z.output<typeof anchor>;

/** Adds a fault if only one of `position` and `hash` is there. */
const checkAnchor = ({ position, hash }: Anchored, context: z.RefinementCtx): void => {
  for (const [name, value, other] of [
    ['position', position, hash],
    ['hash', hash, position],
  ] as const) {
    if (value === undefined && other !== undefined) {
      context.addIssue({ code: 'custom', path: [name], message: 'is required' });
    }
  }
};

const toAnchor = ({ position, hash }: Anchored): Anchor | null =>
  position === undefined || hash === undefined ? null : { position, hash };

const common = { role: 'admin', scope: 'audit:read', cache: 'never' } as const;

export const auditRoutes = (parts: ChainParts): Route[] => [
  jsonRoute({
    ...common,
    id: 'listAudits',
    request: 'GET /audits',
    summary: 'List audit log entries',
    query: pageOrOffsetQuery.extend(auditFilter.shape),
    response: pageOf('AuditPage', audit),
    handler: listPage(
      parts.db,
      (executor, { offset, ...query }) => {
        if (query.next !== null && offset !== undefined) {
          throw unprocessable([{ path: 'offset', message: 'cannot be used together with next' }]);
        }
        return listAudits(executor, { ...query, offset: offset ?? 0 });
      },
      toResponse,
    ),
  }),
  streamRoute({
    ...common,
    id: 'exportAudits',
    request: 'GET /audits/export',
    summary: 'Export audit log entries',
    description:
      'One entry a line, in the order of the hash chain; entries that are not chained yet are left out. The last line is `{"checkpoint": …}` with the newest checkpoint, or null; an export without that line is not complete. Send the last `position` as `after_position` to continue.',
    query: exportQuery,
    type: 'application/x-ndjson',
    saveAs: 'audit-log.ndjson',
    handler: (context) => exportEntries(parts, context, context.query),
  }),
  jsonRoute({
    ...common,
    id: 'getAuditCheckpoint',
    request: 'GET /audits/checkpoint',
    summary: 'Get the newest checkpoint of the audit log',
    description: 'Note it outside the database, or its `position` and `hash`: `verify` compares them.',
    otherStatuses: [404],
    response: auditCheckpoint,
    handler: async () => {
      const newest = await parts.db.run(findNewestCheckpoint);
      if (newest) return checkpointResponse(parts.vault, newest);
      throw new ApiError('not_found', 'The audit log has no checkpoint yet.');
    },
  }),
  jsonRoute({
    ...common,
    id: 'verifyAudits',
    request: 'GET /audits/verify',
    summary: 'Verify the audit log',
    otherStatuses: [400],
    description:
      'Computes the hash chain again, and compares it with the checkpoints and with the anchor, if `position` and `hash` are given.',
    query: anchor.superRefine(checkAnchor),
    response: auditVerification,
    handler: ({ query }) => verifyChain(parts, toAnchor(query)),
  }),
  jsonRoute({
    ...common,
    id: 'verifyAuditPart',
    base: 'app',
    request: 'GET /audits/verify',
    summary: 'Verify a part of the audit log',
    otherStatuses: [400],
    description:
      'Verifies at most `limit` entries after `position`, or from the start. While `done` is false, send `position` and `hash` of the response to verify the next part. All parts together find what the verification of the whole would.',
    query: anchor
      .extend({ limit: queryInteger(1, 100_000, 10_000).describe('1 to 100,000, default 10,000.') })
      .superRefine(checkAnchor),
    response: partVerification,
    handler: ({ query }) => verifyPart(parts, toAnchor(query), query.limit),
  }),
];
