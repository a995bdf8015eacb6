export { claimWorkItems } from './claims.ts';
export { appendMessage, messagesOf } from './history-store.ts';
export {
  finish,
  heartbeat,
  type Lease,
  nextWorkIn,
  recoverLost,
  release,
  retry,
  setToolInFlight,
  setTrace,
} from './leases.ts';
export { type MessagePart, type MessageRole, textPart } from './messages.ts';
export { workItemRoutes } from './routes.ts';
export { publicWorkItem, toWorkItemResponse } from './schemas.ts';
export {
  cancelsChannel,
  retainWorkItems,
  type WorkItem,
  type WorkItemError,
  workItemsChannel,
} from './store.ts';
export {
  cancelOpenWorkItems,
  checkPayloadSize,
  createWorkItem,
  findWorkItem,
  firedInsertion,
  wakeWorkers,
} from './work-items.ts';
