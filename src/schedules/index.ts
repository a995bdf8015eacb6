export { countOverdue } from './due.ts';
export { Firing, type FiringReport } from './firing.ts';
export { scheduleRoutes } from './routes.ts';
export { retainOccurrences } from './store.ts';
