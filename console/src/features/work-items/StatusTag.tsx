import { toolOfReason } from '../../messages/index.ts';
import { workItems as words } from '../../text/en/work-items.ts';
import { type Outcome, OutcomeTag } from '../../ui/index.ts';
import type { Status } from './types.ts';

export const kindOf: Record<Status, Outcome> = {
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
  <OutcomeTag kind={kindOf[status]}>{words.status[status]}</OutcomeTag>
);

/** The name of a Work Item, or its short id. */
export const nameOf = ({ id, work_item_name }: { id: string; work_item_name: string | null }): string =>
  work_item_name || words.unnamed(id);

/** The question to a person, in short. */
export const questionOf = (reason: string | null | undefined): string => {
  const tool = toolOfReason(reason);
  return tool === null ? (reason ?? words.noQuestion) : words.mayBeCalled(tool);
};
