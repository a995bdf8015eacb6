import { polling, useOperation, usePermission } from '../../api/index.ts';
import type { ReplicaStatus, Status } from '../../api/types.gen.ts';
import { pages } from '../../text/en/pages.ts';
import { status as words } from '../../text/en/status.ts';
import { bytes, list, number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  ButtonLink,
  Callout,
  type Column,
  Facts,
  Loaded,
  OutcomeTag,
  Page,
  Section,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { TraceStore } from './TraceStore.tsx';

const kinds = { alive: 'on-time', silent: 'missing', stopped: 'skipped' } as const;

const columns: readonly Column<ReplicaStatus>[] = [
  {
    key: 'name',
    title: words.replica,
    width: '30%',
    cell: ({ name, version }) => <TwoLines below={version}>{name}</TwoLines>,
  },
  {
    key: 'state',
    title: words.state,
    cell: ({ state }) => <OutcomeTag kind={kinds[state]}>{words.states[state]}</OutcomeTag>,
  },
  { key: 'roles', title: words.roles, phone: 'below', cell: ({ roles }) => list(roles) },
  {
    key: 'seen',
    title: words.seen,
    phone: 'hide',
    cell: ({ seen_at }) => <Time at={seen_at} form="both" />,
  },
  {
    key: 'clock',
    title: words.clock,
    phone: 'hide',
    cell: ({ clock_skew_ms }) => (clock_skew_ms === null ? words.unknown : words.ahead(clock_skew_ms)),
  },
];

const Content = ({ status }: { status: Status }) => {
  const { allowed: maySeeTraces } = usePermission('getTraceStore');
  const { replicas, roles, database, telemetry_log: log } = status;
  return (
    <>
      {roles
        .filter(({ alive }) => alive === 0)
        .map(({ role }) => (
          <Callout key={role} tone="bad" title={words.noRole(role)} />
        ))}
      <Section title={words.replicas}>
        <Box>
          <Table
            label={words.replicas}
            rows={replicas}
            columns={columns}
            rowKey={({ id }) => id}
            name={({ name }) => name}
          />
        </Box>
      </Section>
      <Section title={words.database}>
        <Box padded>
          <Facts
            facts={[
              [words.version, words.postgres(database.version)],
              [words.kind, words.databases[database.kind]],
              [words.size, bytes(database.size_bytes)],
            ]}
          />
        </Box>
      </Section>
      {maySeeTraces && <TraceStore />}
      <Section title={words.telemetryLog}>
        <Box padded>
          <Facts
            facts={[
              [words.kind, words.kinds[log.kind]],
              [words.size, bytes(log.size_bytes)],
              [words.kept, words.keptFor(log.retention_hours, number(log.retention_mb))],
            ]}
          />
        </Box>
      </Section>
    </>
  );
};

export const StatusPage = () => {
  const got = useOperation('getStatus', {}, { every: polling.overview });
  return (
    <Page
      title={pages.status}
      lead={words.lead}
      actions={<ButtonLink href="/metrics">{words.metrics}</ButtonLink>}
    >
      <Loaded got={got} operation="getStatus">
        {(status) => <Content status={status} />}
      </Loaded>
    </Page>
  );
};
