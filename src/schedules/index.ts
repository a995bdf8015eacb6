export type { FiringReport } from './firing/batch.ts';
export { countOverdue } from './firing/due.ts';
export { Firing } from './firing/firing.ts';
export { scheduleRoutes } from './routes.ts';
export { retainOccurrences } from './store.ts';
