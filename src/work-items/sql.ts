/** Fragments for statements of other features: a part of one statement cannot be a call. */

export { firedInsertion, triggeredInsertion } from './insertion.ts';
export { runningOf } from './running.ts';
