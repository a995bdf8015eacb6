import type { PublicWorkItem } from '../api/types.gen.ts';
import { workItems as words } from '../text/en/work-items.ts';
import { type Outcome, OutcomeTag } from '../ui/index.ts';

type Status = PublicWorkItem['status'];

export const statusKinds: Record<Status, Outcome> = {
  DRAFT: 'due',
  PENDING: 'due',
  EXECUTING: 'due',
  NEEDS_REVIEW: 'waits',
  INDETERMINATE: 'waits',
  COMPLETED: 'on-time',
  ERROR: 'missing',
  CANCELLED: 'skipped',
};

export const StatusTag = ({ status }: { status: Status }) => (
  <OutcomeTag kind={statusKinds[status]}>{words.status[status]}</OutcomeTag>
);

/** The name of a Work Item, or its short id. */
export const workItemName = ({ id, work_item_name }: { id: string; work_item_name: string | null }): string =>
  work_item_name || words.unnamed(id);
