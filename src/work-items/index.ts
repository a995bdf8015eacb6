export { appendMessage, messagesOf, type WorkItemMessage } from './history-store.ts';
export {
  claimWorkItems,
  finish,
  handBack,
  heartbeat,
  type Lease,
  nextWorkIn,
  type Outcome,
  recoverLost,
  retry,
  setToolInFlight,
  setTrace,
} from './leases.ts';
export { workItemRoutes } from './routes.ts';
export { presentWorkItem, publicWorkItem } from './schemas.ts';
export {
  cancelsChannel,
  retainWorkItems,
  type WorkItem,
  type WorkItemError,
  type WorkItemUsage,
  workItemsChannel,
} from './store.ts';
export {
  cancelOpenOf,
  checkPayloadSize,
  createWorkItem,
  type FiredItem,
  findWorkItem,
  insertFired,
} from './work-items.ts';
