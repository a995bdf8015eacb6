import { useBaseUrl, useOperation, usePermission } from '../../../api/index.ts';
import type { PublicTrigger } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { triggers } from '../../../text/en/triggers.ts';
import { number } from '../../../text/format.ts';
import { Time } from '../../../time/index.ts';
import {
  Box,
  CodeBlock,
  curlOf,
  Facts,
  JsonView,
  Link,
  Muted,
  OutcomeTag,
  Section,
  Table,
} from '../../../ui/index.ts';
import { triggerHref } from '../shared/address.ts';
import { paramsOf } from '../shared/params.ts';
import css from './detail.module.css';

const Code = ({ children }: { children: string }) => <code className={css.clamped}>{children}</code>;

const ConnectionName = ({ id }: { id: string }) => {
  const { allowed } = usePermission('getEventConnection');
  const { data } = useOperation('getEventConnection', allowed ? { event_connection_id: id } : null);
  return (
    <Link href={to('/event-connections/$eventConnectionId', { eventConnectionId: id })}>
      {data?.name ?? id}
    </Link>
  );
};

const AgentName = ({ id }: { id: string }) => {
  const { data } = useOperation('getAgent', { agent_id: id });
  return <Link href={to('/agents/$agentId', { agentId: id })}>{data?.name ?? id}</Link>;
};

/** What it receives and what it makes of it, at a glance. */
export const DefinitionBox = ({ trigger }: { trigger: PublicTrigger }) => {
  const { settings, kind, filter, mapping, dedup, rate_limit, agent_id, id } = trigger;
  const consumer = settings.durable_name ?? settings.group_id;
  return (
    <Box padded title={words.definition}>
      <Facts
        facts={[
          [words.kind, triggers.kinds[kind]],
          settings.scheme !== undefined && [words.scheme, triggers.schemes[settings.scheme]],
          settings.connection_id !== undefined && [
            words.connection,
            <ConnectionName key="connection" id={settings.connection_id} />,
          ],
          settings.stream !== undefined && [words.stream, <Code key="stream">{settings.stream}</Code>],
          settings.topic !== undefined && [words.topic, <Code key="topic">{settings.topic}</Code>],
          Boolean(settings.subjects?.length) && [words.subjects, settings.subjects!.join(', ')],
          Boolean(consumer) && [words.consumer, <Code key="consumer">{consumer!}</Code>],
          settings.statuses !== undefined && [words.statuses, settings.statuses.join(', ')],
          (kind === 'work_item' || kind === 'absence') && [
            words.watches,
            settings.agent_id ? (
              <AgentName key="watches" id={settings.agent_id} />
            ) : settings.trigger_id ? (
              <Link key="watches" href={triggerHref(agent_id, settings.trigger_id)}>
                {settings.trigger_id}
              </Link>
            ) : (
              words.anyAgent
            ),
          ],
          settings.window_seconds !== undefined && [words.window, words.seconds(settings.window_seconds)],
          [
            words.filter,
            filter === null ? (
              <Muted key="all" third>
                {words.allEvents}
              </Muted>
            ) : (
              <Code key="f">{filter}</Code>
            ),
          ],
          mapping.message !== '' && [words.message, <Code key="message">{mapping.message}</Code>],
          [
            words.payload,
            mapping.payload === null ? (
              <Muted key="event" third>
                {words.theEvent}
              </Muted>
            ) : (
              <Code key="payload">{mapping.payload}</Code>
            ),
          ],
          dedup !== null && [words.key, <Code key="key">{dedup.key}</Code>],
          rate_limit !== null && [
            words.rate,
            `${number(rate_limit.per_minute)}, ${words.rateOver[rate_limit.over]}`,
          ],
          [
            words.changed,
            <Link key="changed" href={triggerHref(agent_id, id, { tab: 'history' })} keepScroll>
              <Time at={trigger.updated_at} form="relative" />
            </Link>,
          ],
        ]}
      />
    </Box>
  );
};

const readingMarks = { ok: 'on-time', connecting: 'due', failing: 'missing' } as const;

/** How a broker is read, and where reading goes on. */
export const Reading = ({ reading }: { reading: NonNullable<PublicTrigger['reading']> }) => (
  <Box padded title={words.reading}>
    <Facts
      facts={[
        [
          words.reading,
          <OutcomeTag key="state" kind={readingMarks[reading.state]}>
            {words.readingStates[reading.state]}
          </OutcomeTag>,
        ],
        reading.lag !== null && [words.lag, number(reading.lag)],
        reading.last_read_at !== null && [
          words.lastRead,
          <Time key="read" at={reading.last_read_at} form="relative" />,
        ],
        reading.last_error !== null && [words.lastError, reading.last_error],
      ]}
    />
    {reading.positions && reading.positions.length > 1 && (
      <Table
        label={words.positions}
        rows={reading.positions}
        rowKey={({ partition }) => String(partition)}
        name={({ partition }) => String(partition)}
        columns={[
          { key: 'partition', title: words.partition, cell: ({ partition }) => partition },
          { key: 'next', title: words.position, numeric: true, cell: ({ next }) => number(next) },
          { key: 'end', title: words.end, numeric: true, cell: ({ end }) => number(end) },
        ]}
      />
    )}
  </Box>
);

/** The trigger as every client gets it. */
export const Raw = ({ trigger }: { trigger: PublicTrigger }) => {
  const baseUrl = useBaseUrl();
  return (
    <>
      <Section title={words.raw}>
        <Box padded>
          <JsonView value={trigger} label={words.raw} fileName={`${trigger.id}.json`} />
        </Box>
      </Section>
      <Section title={words.curl}>
        <CodeBlock label={words.curl} code={curlOf(baseUrl, 'getTrigger', paramsOf(trigger))} />
      </Section>
    </>
  );
};
