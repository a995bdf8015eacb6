import { usePermission } from '../../api/index.ts';
import type { SentMessage } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  type Column,
  Link,
  Muted,
  type Outcome,
  OutcomeTag,
  Section,
  Table,
  TwoLines,
  Words,
} from '../../ui/index.ts';

const marks: Record<SentMessage['state'], Outcome> = {
  pending: 'due',
  delivered: 'on-time',
  failed: 'missing',
};

const toOf = ({ to: recipient }: SentMessage): string =>
  typeof recipient === 'object' ? recipient.name : recipient === 'channel' ? words.theChannel : recipient;

const columns: readonly Column<SentMessage>[] = [
  {
    key: 'channel',
    title: words.channel,
    width: '34%',
    cell: (message) => <TwoLines below={toOf(message)}>{message.channel_name}</TwoLines>,
  },
  {
    key: 'state',
    title: words.messageState,
    cell: ({ state, attempts }) => (
      <TwoLines below={attempts > 0 && words.attempts(attempts)}>
        <OutcomeTag kind={marks[state]}>{words.messageStates[state]}</OutcomeTag>
      </TwoLines>
    ),
  },
  {
    key: 'at',
    title: words.sent,
    phone: 'below',
    cell: ({ delivered_at, next_attempt_at }) =>
      delivered_at ? (
        <Time at={delivered_at} />
      ) : (
        next_attempt_at && (
          <Words
            text={Date.parse(next_attempt_at) > Date.now() ? words.next : words.due}
            at={<Time at={next_attempt_at} form="relative" />}
          />
        )
      ),
  },
  {
    key: 'error',
    title: words.lastError,
    width: '28%',
    phone: 'below',
    cell: ({ last_error }) => last_error,
  },
];

/** Who was told of an alert, and whether they were. */
export const Messages = ({ messages }: { messages: readonly SentMessage[] }) => {
  const { allowed } = usePermission('getChannel');
  return (
    <Section title={words.messages} note={words.messagesNote}>
      {messages.length === 0 ? (
        <Muted>
          <Words text={words.noMessages} routes={allowed && <Link href="/routes">{words.routes}</Link>} />
        </Muted>
      ) : (
        <Box>
          <Table
            label={words.messages}
            rows={messages}
            columns={columns}
            rowKey={({ channel_id, to: recipient }) => `${channel_id} ${JSON.stringify(recipient)}`}
            name={({ channel_name }) => channel_name}
            href={({ channel_id }) => to('/channels/$channelId', { channelId: channel_id })}
          />
        </Box>
      )}
    </Section>
  );
};
