export { chainLoop } from './chain.ts';
export { auditRoutes } from './routes.ts';
export { type AuditEntry, record } from './store.ts';
