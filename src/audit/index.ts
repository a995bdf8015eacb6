import type { Feature, Services } from '../feature.ts';
import { chainLoop } from './chain.ts';
import { auditRoutes } from './routes.ts';

export { audit, auditRefusal } from './store.ts';

/** The audit log: who changed what, and the hash chain over it. */
export const createAudit = ({ db, log }: Services): Feature => ({
  tag: { name: 'Audit log', description: 'Who changed what, append-only and hash-chained.' },
  routes: auditRoutes(db),
  loops: [chainLoop(db, log)],
});
