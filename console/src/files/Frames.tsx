import { useState } from 'react';
import { listPolling, useOperation } from '../api/index.ts';
import type { PublicDataFrame } from '../api/types.gen.ts';
import { DeleteDialog } from '../resource/index.ts';
import { useUrlState } from '../routing/url-state.ts';
import { files as words } from '../text/en/files.ts';
import { Time } from '../time/index.ts';
import {
  Box,
  type Column,
  EmptyState,
  Loaded,
  Muted,
  Section,
  Table,
  TwoLines,
  useDisabledReason,
} from '../ui/index.ts';
import type { FileOwner } from './owner.ts';
import { QueryBox } from './QueryBox.tsx';
import { sourceOf } from './sources.ts';
import { Maker } from './who.tsx';

const columnsOf = (owner: FileOwner): readonly Column<PublicDataFrame>[] => [
  {
    key: 'name',
    title: words.frame,
    width: '34%',
    cell: ({ name, description }) => <TwoLines below={description}>{name}</TwoLines>,
  },
  {
    key: 'rows',
    title: words.shape,
    numeric: true,
    cell: ({ row_count, columns }) => (
      <TwoLines below={words.columnCount(columns.length)}>{words.rowCount(row_count)}</TwoLines>
    ),
  },
  { key: 'source', title: words.source, phone: 'hide', cell: ({ source }) => sourceOf(source) },
  {
    key: 'created',
    title: words.frameCreated,
    phone: 'below',
    cell: ({ created_at, created_by }) => (
      <TwoLines below={<Maker id={created_by} owner={owner} />}>
        <Time at={created_at} form="relative" />
      </TwoLines>
    ),
  },
];

export const DeleteFrameDialog = ({
  owner,
  name,
  opens,
  onClose,
}: {
  owner: FileOwner;
  name: string;
  /** The address that opens then, if the frame is what the page shows. */
  opens?: string;
  onClose: () => void;
}) => (
  <DeleteDialog
    operation={owner.operations.deleteFrame}
    params={{ ...owner.params, frame: name }}
    title={words.deleteFrame}
    name={name}
    deleted={words.frameDeleted}
    {...(opens !== undefined && { opens })}
    onClose={onClose}
  >
    <p>{words.deleteFrameText}</p>
  </DeleteDialog>
);

/** The data frames of a conversation or a Work Item, and SQL over them. */
export const Frames = ({ owner }: { owner: FileOwner }) => {
  const { href } = useUrlState<{ frame?: string }>();
  const { operations, params } = owner;
  const got = useOperation(operations.listFrames, params, {
    query: { limit: 100 },
    every: listPolling(false),
  });
  const mayDelete = useDisabledReason(operations.deleteFrame);
  const [deleting, setDeleting] = useState<string | null>(null);
  const first = got.data?.data[0];
  return (
    <>
      <Section title={words.frames} note={words.framesNote}>
        <Loaded got={got} operation={operations.listFrames}>
          {({ data, has_more }) => (
            <Box>
              {data.length === 0 ? (
                <EmptyState sentence={words.framesEmpty} />
              ) : (
                <Table
                  label={words.frames}
                  rows={data}
                  columns={columnsOf(owner)}
                  rowKey={({ id }) => id}
                  name={({ name }) => name}
                  href={({ name }) => href({ frame: name })}
                  actions={({ name }) => [
                    { label: words.openFrame, href: href({ frame: name }) },
                    {
                      label: words.deleteFrame,
                      danger: true,
                      onSelect: () => setDeleting(name),
                      disabledReason: mayDelete,
                    },
                  ]}
                />
              )}
              {has_more && <Muted small>{words.framesMore}</Muted>}
            </Box>
          )}
        </Loaded>
      </Section>
      {first && <QueryBox owner={owner} example={first.name} />}
      {deleting !== null && (
        <DeleteFrameDialog owner={owner} name={deleting} onClose={() => setDeleting(null)} />
      )}
    </>
  );
};
