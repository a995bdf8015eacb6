import { useState } from 'react';
import { listPolling, useOperation } from '../../api/index.ts';
import type { Alert } from '../../api/types.gen.ts';
import { useAgentOptions } from '../../resource/index.ts';
import { hrefOfThing } from '../../resource/thing.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { duration } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  type Column,
  FilterBar,
  FilterChoice,
  FilterSelect,
  Loaded,
  Muted,
  NothingMatches,
  optionsOf,
  Pager,
  Table,
  TwoLines,
  useDisabledReason,
} from '../../ui/index.ts';
import { AcknowledgeDialog } from './AcknowledgeDialog.tsx';
import { aboutOf, isOpen, SeverityTag } from './marks.tsx';
import type { alertsSearch } from './search.ts';

const Acknowledged = ({ alert: { acknowledged_at, acknowledged_by, note, state } }: { alert: Alert }) => {
  if (acknowledged_at === null)
    return state === 'firing' ? words.unacknowledged : <Muted>{words.noOne}</Muted>;
  return (
    <TwoLines below={note}>
      {acknowledged_by?.name}{' '}
      <Muted>
        <Time at={acknowledged_at} form="relative" />
      </Muted>
    </TwoLines>
  );
};

const title: Column<Alert> = {
  key: 'alert',
  title: words.alert,
  width: '44%',
  cell: (alert) => <TwoLines below={aboutOf(alert)}>{alert.title}</TwoLines>,
};

const columns: Record<Alert['state'], readonly Column<Alert>[]> = {
  firing: [
    title,
    { key: 'severity', title: words.severity, cell: ({ severity }) => <SeverityTag severity={severity} /> },
    {
      key: 'since',
      title: words.since,
      phone: 'below',
      cell: ({ fired_at }) => <Time at={fired_at} form="relative" />,
    },
    {
      key: 'acknowledged',
      title: words.acknowledged,
      phone: 'below',
      width: '24%',
      cell: (alert) => <Acknowledged alert={alert} />,
    },
  ],
  resolved: [
    title,
    {
      key: 'severity',
      title: words.severity,
      phone: 'hide',
      cell: ({ severity }) => words.severities[severity],
    },
    {
      key: 'when',
      title: words.when,
      cell: ({ fired_at, resolved_at }) => (
        <TwoLines
          below={resolved_at && words.lasted(duration(Date.parse(resolved_at) - Date.parse(fired_at)))}
        >
          <Time at={fired_at} />
        </TwoLines>
      ),
    },
    {
      key: 'acknowledged',
      title: words.acknowledged,
      phone: 'hide',
      width: '20%',
      cell: (alert) => <Acknowledged alert={alert} />,
    },
  ],
};

const filters = ['kind', 'agent_id'] as const;

/** The alerts that fire, or those that are over, newest first. */
export const AlertsTab = ({ state }: { state: Alert['state'] }) => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof alertsSearch>>();
  const { kind, agent_id, next } = search;
  const got = useOperation(
    'listAlerts',
    {},
    { query: { state, kind, agent_id, next }, every: listPolling(state === 'firing'), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const agents = useAgentOptions(agent_id ? [agent_id] : []);
  const mayAcknowledge = useDisabledReason('acknowledgeAlert');
  const [acknowledging, setAcknowledging] = useState<Alert | null>(null);
  const filtered = count(filters);
  const isShown = filtered > 0 || (got.data?.data.length ?? 0) > 0;
  return (
    <>
      {isShown && (
        <FilterBar set={filtered} onClear={() => clear(filters)}>
          <FilterChoice
            label={words.kind}
            value={kind ? [kind] : []}
            options={optionsOf(words.kinds)}
            onChange={([value]) => set({ kind: value as Alert['kind'] })}
          />
          <FilterSelect
            label={words.agent}
            value={agent_id}
            {...agents}
            onChange={(value) => set({ agent_id: value })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listAlerts">
        {({ data }) => (
          <Box>
            <Table
              label={words.tabs[state === 'firing' ? 'firing' : 'history']}
              rows={data}
              columns={columns[state]}
              rowKey={({ id }) => id}
              name={(alert) => alert.title}
              href={({ id }) => to('/alerts/$alertId', { alertId: id })}
              actions={(alert) => {
                const { subject } = alert;
                const href = subject && hrefOfThing(subject.type, subject.id, alert.agent_id);
                return [
                  { label: words.openAlert, href: to('/alerts/$alertId', { alertId: alert.id }) },
                  ...(isOpen(alert)
                    ? [
                        {
                          label: words.acknowledge,
                          disabledReason: mayAcknowledge,
                          onSelect: () => setAcknowledging(alert),
                        },
                      ]
                    : []),
                  ...(subject && href ? [{ label: words.open[subject.type], href }] : []),
                ];
              }}
              nothing={
                filtered > 0 ? (
                  <NothingMatches what={words.what} filters={filtered} onClear={() => clear(filters)} />
                ) : (
                  <Muted>{state === 'firing' ? words.noneFire : words.noneOver}</Muted>
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      {acknowledging && <AcknowledgeDialog alert={acknowledging} onClose={() => setAcknowledging(null)} />}
    </>
  );
};
