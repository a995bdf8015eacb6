import { useEffect, useEffectEvent, useState } from 'react';
import type { ListedSchedule } from '../../../api/types.gen.ts';
import { stringifySearch } from '../../../routing/search.ts';
import { to } from '../../../routing/to.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { common } from '../../../text/en/common.ts';
import { pages } from '../../../text/en/pages.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { Time } from '../../../time/index.ts';
import {
  Box,
  Button,
  Loaded,
  type MenuEntry,
  NothingMatches,
  Pager,
  Problem,
  SelectionBar,
  Skeleton,
  Table,
  useDisabledReason,
  useSelection,
  Words,
} from '../../../ui/index.ts';
import { NoSchedules, SchedulesFrame } from '../SchedulesFrame.tsx';
import { filterNames, filterOf, type SchedulesSearch } from '../search.ts';
import { scheduleHref } from '../shared/address.ts';
import { nameOf } from '../shared/name.ts';
import { useScheduleActions } from '../shared/use-actions.ts';
import { ActDialog, type ActionName, type Target } from './ActDialog.tsx';
import { columns } from './columns.tsx';
import { Filters } from './Filters.tsx';
import { useListing } from './use-listing.ts';

const mostCounted = 10_000;
const bulkActions = ['pause', 'resume', 'delete'] as const;
const labels = { pause: words.pause, resume: words.resume, delete: common.delete };

const said = {
  run: (schedule: ListedSchedule) => words.started(nameOf(schedule)),
  resume: () => words.done.resume(1),
};

const Lead = ({
  total,
  filtered,
  rows,
  complete,
}: {
  total: number;
  filtered: boolean;
  rows: ListedSchedule[];
  /** The one that fires next is among the rows. */
  complete: boolean;
}) => {
  const all = total < mostCounted;
  const next = rows.flatMap(({ next_run_at }) => next_run_at ?? []).sort()[0];
  return (
    <>
      {filtered ? words.leadMatching(total, all) : words.lead(total, all)}{' '}
      {next && complete && <Words text={words.nextFires} at={<Time at={next} form="relative" />} />}
    </>
  );
};

export const ListView = () => {
  const { search, clear, count } = useUrlState<SchedulesSearch>();
  const { list, rows } = useListing(search);
  const selection = useSelection();
  const { run, resume } = useScheduleActions(said);
  const [asking, setAsking] = useState<{ action: ActionName; target: Target } | null>(null);
  const pager = useCursor(list.data?.next);
  const mayRun = useDisabledReason('runSchedule');
  const mayAct = useDisabledReason('actOnSchedules');
  const mayResume = useDisabledReason('resumeSchedule');
  const mayEdit = useDisabledReason('replaceSchedule');
  const mayCreate = useDisabledReason('createSchedule');
  const address = stringifySearch(search);
  const unselect = useEffectEvent(selection.clear);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another list.
  useEffect(() => unselect(), [address]);

  const filters = count(filterNames);
  const empty = list.data !== undefined && rows.length === 0 && filters === 0 && search.next === undefined;
  const total = list.data?.total ?? 0;
  const ask = (action: ActionName, target: Target) => setAsking({ action, target });

  const entriesOf = (schedule: ListedSchedule): MenuEntry[] => {
    const { id, agent, enabled } = schedule;
    return [
      { label: words.runNow, onSelect: () => void run.run(schedule), disabledReason: mayRun },
      enabled
        ? { label: words.pause, onSelect: () => ask('pause', { ids: [id] }), disabledReason: mayAct }
        : { label: words.resume, onSelect: () => void resume.run(schedule), disabledReason: mayResume },
      {
        label: common.edit,
        href: to('/agents/$agentId/schedules/$scheduleId/edit', { agentId: agent.id, scheduleId: id }),
        disabledReason: mayEdit,
        group: true,
      },
      { label: words.duplicate, href: to('/schedules/new', {}, { copy: id }), disabledReason: mayCreate },
      {
        label: common.delete,
        onSelect: () => ask('delete', { ids: [id] }),
        disabledReason: mayAct,
        danger: true,
        group: true,
      },
    ];
  };
  const failure = run.error ?? resume.error;
  return (
    <SchedulesFrame
      empty={empty}
      lead={
        !list.data ? (
          ''
        ) : empty ? null : (
          <Lead
            total={total}
            filtered={filters > 0}
            rows={rows}
            complete={
              rows.length === total || (search.next === undefined && (search.sort ?? 'next') === 'next')
            }
          />
        )
      }
    >
      {!empty && <Filters rows={rows} />}
      {failure && <Problem error={failure} />}
      <Loaded got={list} operation="listAllSchedules" skeleton={<Skeleton rows={10} height={58} />}>
        {() => (
          <Box>
            {rows.length > 0 ? (
              <Table
                label={pages.schedules}
                columns={columns}
                rows={rows}
                rowKey={({ id }) => id}
                href={({ id, agent }) => scheduleHref(agent.id, id)}
                name={nameOf}
                actions={entriesOf}
                selection={selection}
              />
            ) : filters > 0 ? (
              <NothingMatches what={words.what} filters={filters} onClear={() => clear(filterNames)} />
            ) : (
              <NoSchedules />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      <SelectionBar
        selection={selection}
        shown={rows.length}
        matching={list.data && total < mostCounted ? total : null}
      >
        {bulkActions.map((action) => (
          <Button
            key={action}
            small
            kind={action === 'delete' ? 'danger' : 'plain'}
            disabledReason={mayAct}
            onClick={() =>
              ask(action, selection.everything ? { filter: filterOf(search) } : { ids: selection.keys })
            }
          >
            {labels[action]}
          </Button>
        ))}
      </SelectionBar>
      {asking && (
        <ActDialog
          {...asking}
          onClose={() => setAsking(null)}
          onDone={() => {
            setAsking(null);
            selection.clear();
          }}
        />
      )}
    </SchedulesFrame>
  );
};
