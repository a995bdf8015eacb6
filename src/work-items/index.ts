export { appendMessage, messagesOf } from './history-store.ts';
export {
  claimWorkItems,
  finish,
  handBack,
  heartbeat,
  type Lease,
  nextWorkIn,
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
  workItemsChannel,
} from './store.ts';
export {
  cancelOpenOf,
  checkPayloadSize,
  createWorkItem,
  findWorkItem,
  firedInsertion,
  wakeWorkers,
} from './work-items.ts';
