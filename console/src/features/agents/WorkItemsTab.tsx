import { listPolling, useOperation } from '../../api/index.ts';
import type { PublicWorkItem } from '../../api/types.gen.ts';
import { StatusTag, workItemName } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import { Bar, Box, ButtonLink, type Column, EmptyState, Loaded, Section, Table } from '../../ui/index.ts';

const columns: readonly Column<PublicWorkItem>[] = [
  { key: 'name', title: words.name, width: '50%', cell: workItemName },
  {
    key: 'status',
    title: words.status,
    cell: ({ status }) => <StatusTag status={status} />,
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
  const query = { agent_id: agentId, limit: 20 };
  const got = useOperation('listWorkItems', {}, { query, every: listPolling(true) });
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
                name={workItemName}
                href={({ id }) => to('/work-items/$workItemId', { workItemId: id })}
              />
            )}
          </Box>
        </Section>
      )}
    </Loaded>
  );
};
