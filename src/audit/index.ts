export { chainLoop } from './chain.ts';
export { auditRoutes } from './routes.ts';
export { record } from './store.ts';
