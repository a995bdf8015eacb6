import type { Feature, Services } from '../feature.ts';
import { type WorkItemNeeds, workItemRoutes } from './routes.ts';
import { deleteFinishedWorkItems } from './store.ts';

export { claimWorkItems } from './claims.ts';
export { appendMessage, listConversation } from './history-store.ts';
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
export { publicWorkItem, toWorkItemResponse } from './schemas.ts';
export {
  cancelsChannel,
  firedInsertion,
  type WorkItem,
  type WorkItemError,
  wakeWorkers,
  workItemsChannel,
} from './store.ts';
export { cancelOpenWorkItems, checkPayloadSize, createWorkItem, getWorkItem } from './work-items.ts';

/** Work Items: their API and their history. Schedules create them too, and the runtime executes them. */
export const createWorkItems = ({ db }: Services, needs: WorkItemNeeds): Feature => ({
  tag: { name: 'Work Items', description: 'What a Worker agent has to do, is doing or has done.' },
  routes: workItemRoutes(db, needs),
  retention: [(tx, settings, limit) => deleteFinishedWorkItems(tx, settings.WORK_ITEM_RETENTION_DAYS, limit)],
});
