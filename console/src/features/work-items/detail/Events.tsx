import { useState } from 'react';
import { call, useAction, useOperation } from '../../../api/index.ts';
import type { WorkItemEvent, WorkItemEventPage } from '../../../api/types.gen.ts';
import { summaryOf } from '../../../messages/index.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { Time } from '../../../time/index.ts';
import {
  Box,
  Button,
  type Column,
  Loaded,
  Muted,
  Problem,
  Skeleton,
  Table,
  TwoLines,
  useHashTarget,
} from '../../../ui/index.ts';
import css from './detail.module.css';

const wordOf = ({ action, to }: WorkItemEvent): string =>
  action === 'retry' && to === 'ERROR'
    ? words.lastAttemptFailed
    : ((words.actions as Record<string, string>)[action] ?? action);

/** Returns the details of an event, without its statuses. */
const detailsOf = ({ details, to }: WorkItemEvent): string => {
  const { error, outcome, decisions, owner, ...more } = details as {
    error?: { code?: string; message?: string };
    outcome?: string;
    decisions?: { decision?: string; tool_name?: string; reason?: string; edited?: boolean }[];
    owner?: string;
  };
  const parts = [
    owner,
    error && [error.code, error.message].filter(Boolean).join(': '),
    outcome !== undefined && outcome !== to && outcome,
    ...(decisions ?? []).map(({ decision = '', tool_name = '', reason, edited }) =>
      words.decided(decision, tool_name, edited ?? false, reason),
    ),
    summaryOf(more),
  ];
  return parts.filter(Boolean).join('; ');
};

const columns: readonly Column<WorkItemEvent>[] = [
  {
    key: 'event',
    title: words.eventColumns.event,
    cell: (event) => <TwoLines below={words.fromTo(event.from, event.to)}>{wordOf(event)}</TwoLines>,
  },
  { key: 'by', title: words.eventColumns.by, cell: ({ principal }) => principal.name, width: '20%' },
  {
    key: 'details',
    title: words.eventColumns.details,
    cell: (event) => <Muted small>{detailsOf(event)}</Muted>,
    width: '32%',
    phone: 'below',
  },
  {
    key: 'at',
    title: words.eventColumns.at,
    cell: ({ id, at }) => (
      <a href={`#event-${id}`} title={words.linkToEvent}>
        <Time at={at} form="both" seconds />
      </a>
    ),
    width: '20%',
    phone: 'below',
  },
];

const List = ({ id, first }: { id: string; first: WorkItemEventPage }) => {
  const [older, setOlder] = useState<WorkItemEventPage | null>(null);
  const load = useAction(async () => {
    const query = { next: older ? older.next : first.next, limit: 50 };
    const { body } = await call('listWorkItemEvents', { work_item_id: id }, { query });
    setOlder({ ...body, data: [...(older?.data ?? []), ...body.data] });
  });
  const shown = new Map([...first.data, ...(older?.data ?? [])].map((event) => [event.id, event]));
  const rows = [...shown.values()];
  useHashTarget(rows.length);
  return (
    <>
      <Box>
        <Table
          label={words.events}
          columns={columns}
          rows={rows}
          rowKey={(event) => `event-${event.id}`}
          name={wordOf}
        />
      </Box>
      {(older ?? first).has_more && (
        <div className={css.older}>
          <Button small busy={load.busy} onClick={() => void load.run()}>
            {words.earlierEvents}
          </Button>
          {load.error && <Problem error={load.error} />}
        </div>
      )}
    </>
  );
};

/** The events, the last first. Each has an address. */
export const Events = ({ id, every }: { id: string; every: number | undefined }) => {
  const got = useOperation('listWorkItemEvents', { work_item_id: id }, { query: { limit: 50 }, every });
  return (
    <Loaded got={got} operation="listWorkItemEvents" skeleton={<Skeleton rows={5} height={54} />}>
      {(page) => <List id={id} first={page} />}
    </Loaded>
  );
};
