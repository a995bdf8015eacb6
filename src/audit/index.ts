export { chainLoop } from './chain.ts';
export { auditRoutes } from './routes.ts';
export { audit } from './store.ts';
