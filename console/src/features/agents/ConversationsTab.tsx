import { useNavigate } from '@tanstack/react-router';
import { listPolling, perform, useAction, useOperation } from '../../api/index.ts';
import type { PublicConversation } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { Time } from '../../time/index.ts';
import {
  Bar,
  Box,
  Button,
  type Column,
  EmptyState,
  Loaded,
  Muted,
  OutcomeTag,
  Pager,
  Problem,
  Section,
  Table,
  TwoLines,
  useDisabledReason,
} from '../../ui/index.ts';

const kinds = { idle: 'on-time', running: 'due', needs_review: 'waits' } as const;
const nameOf = ({ name }: PublicConversation): string => name || words.untitled;

const columns: readonly Column<PublicConversation>[] = [
  {
    key: 'name',
    title: words.name,
    width: '55%',
    cell: (row) => <TwoLines below={words.messages(row.message_count)}>{nameOf(row)}</TwoLines>,
  },
  {
    key: 'status',
    title: words.status,
    cell: ({ status }) => <OutcomeTag kind={kinds[status]}>{words.conversationStates[status]}</OutcomeTag>,
  },
  {
    key: 'last',
    title: words.lastMessage,
    phone: 'below',
    cell: ({ last_message_at }) =>
      last_message_at ? <Time at={last_message_at} form="relative" /> : <Muted>{words.noMessage}</Muted>,
  },
];

export const ConversationsTab = ({ agentId }: { agentId: string }) => {
  const navigate = useNavigate();
  const { search } = useUrlState<{ next?: string }>();
  const query = { next: search.next };
  const got = useOperation(
    'listConversations',
    { agent_id: agentId },
    { query, every: listPolling(false), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const mayCreate = useDisabledReason('createConversation');
  const create = useAction(async () => {
    const { body } = await perform('createConversation', { agent_id: agentId }, { body: {} });
    await navigate({
      href: to('/agents/$agentId/conversations/$conversationId', { agentId, conversationId: body.id }),
    });
  });
  const button = (
    <Button busy={create.busy} disabledReason={mayCreate} onClick={() => void create.run()}>
      {words.newConversation}
    </Button>
  );
  return (
    <Loaded got={got} operation="listConversations">
      {({ data }) => (
        <Section label={words.tabs.conversations} aside={data.length > 0 && <Bar>{button}</Bar>}>
          {create.error && <Problem error={create.error} />}
          <Box>
            {data.length === 0 ? (
              <EmptyState sentence={words.noConversations} action={button} />
            ) : (
              <Table
                label={words.tabs.conversations}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={nameOf}
                href={({ id }) =>
                  to('/agents/$agentId/conversations/$conversationId', { agentId, conversationId: id })
                }
              />
            )}
          </Box>
          <Pager {...pager} />
        </Section>
      )}
    </Loaded>
  );
};
