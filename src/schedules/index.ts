export type { FiringReport } from './firing/batch.ts';
export { Firing } from './firing/firing.ts';
export { countOverdue } from './firing/store.ts';
export { retainOccurrences } from './occurrence-store.ts';
export { scheduleRoutes } from './routes.ts';
