import { listPolling, useOperation } from '../../api/index.ts';
import type { PublicWorkItem } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { workItems } from '../../text/en/work-items.ts';
import { Time } from '../../time/index.ts';
import {
  Bar,
  Box,
  ButtonLink,
  type Column,
  EmptyState,
  Loaded,
  OutcomeTag,
  Section,
  Table,
} from '../../ui/index.ts';

const kinds = {
  DRAFT: 'due',
  PENDING: 'due',
  EXECUTING: 'due',
  NEEDS_REVIEW: 'waits',
  INDETERMINATE: 'waits',
  COMPLETED: 'on-time',
  ERROR: 'missing',
  CANCELLED: 'skipped',
} as const;

const nameOf = ({ work_item_name, id }: PublicWorkItem): string => work_item_name || workItems.unnamed(id);

const columns: readonly Column<PublicWorkItem>[] = [
  { key: 'name', title: words.name, width: '50%', cell: nameOf },
  {
    key: 'status',
    title: words.status,
    cell: ({ status }) => <OutcomeTag kind={kinds[status]}>{workItems.status[status]}</OutcomeTag>,
  },
  {
    key: 'created',
    title: words.createdAt,
    phone: 'below',
    cell: ({ created_at }) => <Time at={created_at} form="both" />,
  },
];

/** The newest Work Items of one agent; the list of all has filters. */
export const WorkItemsTab = ({ agentId }: { agentId: string }) => {
  const got = useOperation(
    'listWorkItems',
    {},
    {
      query: { agent_id: agentId, limit: 20 },
      every: listPolling(true),
    },
  );
  return (
    <Loaded got={got} operation="listWorkItems">
      {({ records }) => (
        <Section
          label={pages.workItems}
          aside={
            records.length > 0 && (
              <Bar>
                <ButtonLink href={to('/work-items', {}, { agent_id: agentId })}>{words.allItems}</ButtonLink>
              </Bar>
            )
          }
        >
          <Box>
            {records.length === 0 ? (
              <EmptyState sentence={words.noItems} />
            ) : (
              <Table
                label={pages.workItems}
                rows={records}
                columns={columns}
                rowKey={({ id }) => id}
                name={nameOf}
                href={({ id }) => to('/work-items/$workItemId', { workItemId: id })}
              />
            )}
          </Box>
        </Section>
      )}
    </Loaded>
  );
};
