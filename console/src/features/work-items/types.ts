import type { ListedWorkItem } from '../../api/types.gen.ts';

export type {
  BulkAction,
  ListedWorkItem,
  ListedWorkItemPage,
  ShownMessage as StoredMessage,
  WorkItemAttempt as Attempt,
  WorkItemDetail,
  WorkItemStep as Step,
} from '../../api/types.gen.ts';

export type Status = ListedWorkItem['status'];
export type ActionName = ListedWorkItem['allowed_actions'][number];

export const statuses: readonly Status[] = [
  'DRAFT',
  'PENDING',
  'EXECUTING',
  'NEEDS_REVIEW',
  'INDETERMINATE',
  'COMPLETED',
  'ERROR',
  'CANCELLED',
];
