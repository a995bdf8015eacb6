import { useDeferredValue, useEffect, useEffectEvent, useState } from 'react';
import { useAgentExample, workItemName } from '../../resource/index.ts';
import { stringifySearch } from '../../routing/search.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { ui } from '../../text/en/ui.ts';
import { workItemList as words } from '../../text/en/work-item-list.ts';
import { workItems } from '../../text/en/work-items.ts';
import {
  Box,
  Button,
  ButtonLink,
  copyText,
  curlOf,
  EmptyState,
  Loaded,
  type MenuEntry,
  NothingMatches,
  Page,
  Pager,
  SelectionBar,
  Skeleton,
  Table,
  useDisabledReason,
  useSelection,
} from '../../ui/index.ts';
import { ActionQuestion, useActionReason } from './actions.tsx';
import { BulkButtons, BulkDialog, type Target } from './list/BulkDialog.tsx';
import { columns } from './list/columns.tsx';
import { Filters } from './list/Filters.tsx';
import { filterNames, filterOf, type Search, totalOf } from './list/filters.ts';
import css from './list/list.module.css';
import { StatusChips } from './list/StatusChips.tsx';
import { useListing } from './list/use-listing.ts';
import { rememberTrail } from './trail.ts';
import type { ActionName, ListedWorkItem, ListedWorkItemPage, Status } from './types.ts';

const order: readonly ActionName[] = ['submit', 'continue', 'restart', 'complete', 'cancel'];

const leadOf = (counts: ListedWorkItemPage['counts'], chosen: readonly Status[] | undefined): string => {
  if (!counts) return '';
  const { total, more } = totalOf(counts, chosen);
  const waiting = counts.NEEDS_REVIEW + counts.INDETERMINATE;
  const parts = [
    counts.EXECUTING > 0 && words.parts.EXECUTING(counts.EXECUTING),
    counts.PENDING > 0 && words.parts.PENDING(counts.PENDING),
    waiting > 0 && words.parts.waits(waiting),
    counts.ERROR > 0 && words.parts.ERROR(counts.ERROR),
  ].filter((part) => part !== false);
  return words.lead(total, more, chosen ? [] : parts);
};

export const WorkItemsPage = () => {
  const { search, clear, count } = useUrlState<Search>();
  const { list, rows, counts, newer, showNewer } = useListing(search);
  // Together with the rows (`Loaded`): the chips may need a second line then, and would push the skeleton down.
  const chipCounts = useDeferredValue(counts);
  const selection = useSelection();
  const [asking, setAsking] = useState<{ action: ActionName; item: ListedWorkItem } | null>(null);
  const [bulk, setBulk] = useState<{ action: ActionName; target: Target } | null>(null);
  const createReason = useDisabledReason('createWorkItem');
  const bulkReason = useActionReason('restart');
  const pager = useCursor(list.data?.next);
  const filters = count(filterNames);
  const address = stringifySearch(search);
  const unselect = useEffectEvent(selection.clear);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another list.
  useEffect(() => unselect(), [address]);
  const remember = useEffectEvent(() =>
    rememberTrail({ href: `${location.pathname}${location.search}`, ids: rows.map(({ id }) => id) }),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each list that is shown.
  useEffect(() => remember(), [list.updatedAt]);
  const chosen = search.status as readonly Status[] | undefined;
  const total = counts ? totalOf(counts, chosen) : null;

  const entriesOf = (item: ListedWorkItem): MenuEntry[] => [
    ...order
      .filter((action) => item.allowed_actions.includes(action))
      .map((action) => ({
        label: workItems[action],
        danger: action === 'cancel',
        disabledReason: bulkReason,
        onSelect: () => setAsking({ action, item }),
      })),
    { label: workItems.duplicate, href: to('/work-items/new', {}, { copy: item.id }), group: true },
    { label: workItems.copyId, onSelect: () => void copyText(item.id) },
  ];

  const create = (
    <ButtonLink kind="primary" href={to('/work-items/new')} disabledReason={createReason}>
      {workItems.newWorkItem}
    </ButtonLink>
  );
  const empty = list.data !== undefined && rows.length === 0 && filters === 0 && search.next === undefined;
  const example = useAgentExample(empty, (agent_id, base) =>
    curlOf(base, 'createWorkItem', {}, { body: { agent_id, message: words.exampleMessage } }),
  );
  return (
    <Page title={pages.workItems} lead={leadOf(counts, chosen)} actions={!empty && create}>
      <StatusChips counts={chipCounts} />
      <Filters rows={rows} />
      {newer.count > 0 && (
        <div className={css.newer}>
          <Button small onClick={showNewer}>
            {ui.newRows(newer.count, newer.more)}
          </Button>
        </div>
      )}
      <Loaded got={list} operation="listWorkItems" skeleton={<Skeleton rows={12} height={54} />}>
        {() => (
          <Box>
            {rows.length === 0 ? (
              filters > 0 ? (
                <NothingMatches what={words.what} filters={filters} onClear={() => clear(filterNames)} />
              ) : (
                <EmptyState sentence={words.empty} action={create} curl={example} />
              )
            ) : (
              <Table
                label={pages.workItems}
                columns={columns}
                rows={rows}
                rowKey={({ id }) => id}
                href={({ id }) => to('/work-items/$workItemId', { workItemId: id })}
                name={workItemName}
                actions={entriesOf}
                selection={selection}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      <SelectionBar
        selection={selection}
        shown={rows.length}
        matching={total && !total.more ? total.total : null}
      >
        <BulkButtons
          reasonOf={() => bulkReason}
          onChoose={(action) =>
            setBulk({
              action,
              target: selection.everything ? { filter: filterOf(search) } : { ids: selection.keys },
            })
          }
        />
      </SelectionBar>
      {asking && <ActionQuestion {...asking} onClose={() => setAsking(null)} />}
      {bulk && (
        <BulkDialog
          {...bulk}
          onClose={() => setBulk(null)}
          onDone={() => {
            setBulk(null);
            selection.clear();
          }}
        />
      )}
    </Page>
  );
};
