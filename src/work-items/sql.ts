/** Fragments for statements of other features: a part of one statement cannot be a call. */
export { runningOf } from './running.ts';
export { firedInsertion } from './store.ts';
