export type { FiringReport } from './batch.ts';
export { countOverdue } from './due.ts';
export { Firing } from './firing.ts';
export { scheduleRoutes } from './routes.ts';
export { retainOccurrences } from './store.ts';
