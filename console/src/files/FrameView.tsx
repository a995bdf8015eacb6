import { useState } from 'react';
import { addressOf, useOperation } from '../api/index.ts';
import type { PublicDataFrame } from '../api/types.gen.ts';
import { useUrlState } from '../routing/url-state.ts';
import { files as words } from '../text/en/files.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  Callout,
  EmptyState,
  Link,
  Loaded,
  Menu,
  RowsBar,
  type RowsColumn,
  RowsGrid,
  Section,
  useDisabledReason,
} from '../ui/index.ts';
import { download } from './Files.tsx';
import { DeleteFrameDialog } from './Frames.tsx';
import css from './files.module.css';
import type { FileOwner } from './owner.ts';
import type { filesReaders } from './search.ts';
import { sourceOf } from './sources.ts';

type FrameSearch = { [K in keyof typeof filesReaders]?: string | undefined };

const perPage = 50;

/** A list of columns is divided by commas, and `-` is descending. */
const canSort = (name: string): boolean => !/^-|,/.test(name);

/** Warnings about values that were read in another way than their column looks. */
const Remarks = ({ frame }: { frame: PublicDataFrame }) =>
  frame.truncated || frame.warnings.length > 0 ? (
    <Callout tone="look" title={frame.truncated ? words.truncated : words.warnings(frame.warnings.length)}>
      <ul className={css.remarks}>
        {frame.warnings.map(({ code, column, message }) => (
          <li key={`${code} ${column}`}>
            <bdi>{words.warningOf(column, message)}</bdi>
          </li>
        ))}
      </ul>
    </Callout>
  ) : null;

const Rows = ({ owner, frame }: { owner: FileOwner; frame: PublicDataFrame }) => {
  const { search, href, set } = useUrlState<FrameSearch>();
  const offset = Math.max(0, (Number(search.from) || 1) - 1);
  const { order } = search;
  const query = { limit: perPage, offset, order };
  const got = useOperation(
    owner.operations.listRows,
    { ...owner.params, frame: frame.id },
    { query, keepPrevious: true, staleTime: 60_000, onFocus: false },
  );
  const sortOf = ({ name }: RowsColumn) =>
    order === name ? 'ascending' : order === `-${name}` ? 'descending' : undefined;
  const sort = (name: string) =>
    set({
      order: order === name ? `-${name}` : order === `-${name}` ? undefined : name,
      from: undefined,
    });
  const head = (column: RowsColumn) => {
    const { name, datatype } = column;
    const content = (
      <>
        <span>
          <bdi>{name}</bdi>
          {words.arrows[sortOf(column) ?? 'none']}
        </span>
        <span className={css.datatype}>{datatype}</span>
      </>
    );
    return canSort(name) ? (
      <button type="button" className={css.head} title={words.sortBy(name)} onClick={() => sort(name)}>
        {content}
      </button>
    ) : (
      <span className={css.head} title={words.cannotSort}>
        {content}
      </span>
    );
  };
  return (
    <Loaded got={got} operation={owner.operations.listRows}>
      {({ columns, rows, total_count, next_offset }) => (
        <Box>
          {rows.length === 0 ? (
            <EmptyState
              sentence={words.noRows}
              action={
                offset > 0 && <ButtonLink href={href({ from: undefined })}>{words.firstRows}</ButtonLink>
              }
            />
          ) : (
            <>
              <RowsGrid
                label={frame.name}
                columns={columns}
                rows={rows}
                first={offset + 1}
                head={head}
                sortOf={sortOf}
              />
              <RowsBar at="below">
                <span role="status">{words.rowsShown(offset + 1, offset + rows.length, total_count)}</span>
                <Bar>
                  {order !== undefined && (
                    <Button small kind="quiet" onClick={() => set({ order: undefined, from: undefined })}>
                      {words.fileOrder}
                    </Button>
                  )}
                  <Button
                    small
                    disabledReason={offset === 0 ? words.isFirst : null}
                    onClick={() => set({ from: offset > perPage ? String(offset - perPage + 1) : undefined })}
                  >
                    {words.previousRows}
                  </Button>
                  <Button
                    small
                    disabledReason={next_offset === null ? words.isLast : null}
                    onClick={() => set({ from: String(next_offset! + 1) })}
                  >
                    {words.nextRows}
                  </Button>
                </Bar>
              </RowsBar>
            </>
          )}
        </Box>
      )}
    </Loaded>
  );
};

/** A data frame as a table: 50 rows at once, ordered by a column, and its exports. */
export const FrameView = ({ owner, name }: { owner: FileOwner; name: string }) => {
  const { href } = useUrlState<FrameSearch>();
  const { operations } = owner;
  const params = { ...owner.params, frame: name };
  const got = useOperation(operations.getFrame, params);
  const mayDelete = useDisabledReason(operations.deleteFrame);
  const mayExport = useDisabledReason(operations.downloadFrame);
  const [deleting, setDeleting] = useState(false);
  const list = href({ frame: undefined, from: undefined, order: undefined });
  if (got.error?.status === 404) {
    return (
      <Section aside={<Link href={list}>{words.allFrames}</Link>} label={words.frame}>
        <Callout title={words.noSuchFrame} />
      </Section>
    );
  }
  const exports = (['csv', 'safe', 'json', 'ndjson', 'parquet'] as const).map((kind) => ({
    label: words.exports[kind],
    disabledReason: mayExport,
    onSelect: () =>
      download(
        addressOf(
          operations.downloadFrame,
          params,
          kind === 'safe' ? { format: 'csv', spreadsheet_safe: 'true' } : { format: kind },
        ),
      ),
  }));
  return (
    <Loaded got={got} operation={operations.getFrame}>
      {(frame) => (
        <Section
          title={frame.name}
          note={`${words.facts(frame.row_count, frame.columns.length, frame.size_bytes)}. ${sourceOf(frame.source)}.`}
          aside={
            <Bar>
              <ButtonLink href={list} keepScroll>
                {words.allFrames}
              </ButtonLink>
              <Menu label={words.export} entries={exports}>
                {words.export}
              </Menu>
              <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
                {words.deleteFrame}
              </Button>
            </Bar>
          }
        >
          <Remarks frame={frame} />
          <Rows owner={owner} frame={frame} />
          {deleting && (
            <DeleteFrameDialog
              owner={owner}
              name={frame.name}
              onClose={() => setDeleting(false)}
              opens={list}
            />
          )}
        </Section>
      )}
    </Loaded>
  );
};
