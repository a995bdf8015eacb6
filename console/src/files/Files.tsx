import { useState } from 'react';
import { listPolling, request, useAction, useGet, useInvalidate, usePermission } from '../api/index.ts';
import type { ConversationFilePage, PublicFile } from '../api/types.gen.ts';
import { to } from '../app/addresses.ts';
import { useCursor, useUrlState } from '../app/url-state.ts';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { bytes } from '../text/index.ts';
import { Time } from '../time/index.ts';
import {
  ActionDialog,
  Box,
  type Column,
  EmptyState,
  Loaded,
  type MenuEntry,
  notify,
  Pager,
  permissionReason,
  Section,
  Table,
  TwoLines,
} from '../ui/index.ts';
import css from './files.module.css';
import { MakeFrameDialog } from './MakeFrameDialog.tsx';
import { type FileOwner, filePath, filesPath, isDocument, isTable } from './owner.ts';
import { UploadArea, UploadButton } from './UploadArea.tsx';
import { useUploads } from './uploads.ts';
import { Maker } from './who.tsx';

const columnsOf = (owner: FileOwner): readonly Column<PublicFile>[] => [
  {
    key: 'name',
    title: words.file,
    width: '46%',
    cell: ({ name, content_type }) => (
      <TwoLines below={content_type}>
        <bdi className={css.name}>{name}</bdi>
      </TwoLines>
    ),
  },
  { key: 'size', title: words.size, numeric: true, cell: ({ size_bytes }) => bytes(size_bytes) },
  {
    key: 'created',
    title: words.created,
    phone: 'below',
    cell: ({ created_at, created_by }) => (
      <TwoLines below={<Maker id={created_by} owner={owner} />}>
        <Time at={created_at} form="relative" />
      </TwoLines>
    ),
  },
];

const DeleteFileDialog = ({
  owner,
  file,
  onClose,
}: {
  owner: FileOwner;
  file: PublicFile;
  onClose: () => void;
}) => {
  const invalidate = useInvalidate();
  const action = useAction(async () => {
    await request('DELETE', filePath(owner, file.id));
    notify(words.fileDeleted);
    onClose();
    await invalidate(filesPath(owner));
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.deleteFile}
      kind="danger"
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{file.name}</b>
      </p>
      <p>{words.deleteFileText}</p>
    </ActionDialog>
  );
};

/** Starts the download of what the platform sends as a file. */
const download = (address: string) => {
  const link = Object.assign(document.createElement('a'), { href: address, download: '' });
  link.click();
};

/** The files of a conversation or a Work Item: uploaded by a button or by dropping them, and what can be made of them. */
export const Files = ({ owner }: { owner: FileOwner }) => {
  const { search } = useUrlState<{ next?: string }>();
  const got = useGet<ConversationFilePage>(filesPath(owner), {
    query: { next: search.next, limit: 100 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const uploads = useUploads(owner);
  const { allowed: mayRead } = usePermission(`download${owner.kind}File`);
  const mayUpload = permissionReason(usePermission(`create${owner.kind}File`)) ?? owner.fixed;
  const mayDelete = permissionReason(usePermission(`delete${owner.kind}File`)) ?? owner.fixed;
  const mayMake = permissionReason(usePermission(`create${owner.kind}DataFrame`));
  const mayExtract = permissionReason(usePermission('createExtraction'));
  const [open, setOpen] = useState<{ what: 'make' | 'delete'; file: PublicFile } | null>(null);
  const button = <UploadButton uploads={uploads} disabledReason={mayUpload} />;
  const actions = (file: PublicFile): MenuEntry[] => [
    {
      label: common.download,
      onSelect: () => download(`${filePath(owner, file.id)}/content`),
      disabledReason: mayRead ? null : words.noTable,
    },
    {
      label: words.makeFrame,
      onSelect: () => setOpen({ what: 'make', file }),
      disabledReason: mayMake ?? (isTable(file.name) ? null : words.noTable),
    },
    {
      label: words.extract,
      href: to.newExtraction({ ...owner.names, file_id: file.id }),
      disabledReason: mayExtract ?? (isDocument(file) ? null : words.noDocument),
    },
    {
      label: words.deleteFile,
      danger: true,
      group: true,
      onSelect: () => setOpen({ what: 'delete', file }),
      disabledReason: mayDelete,
    },
  ];
  const empty = got.data?.data.length === 0;
  return (
    <Section title={words.title} note={words.note} aside={got.data && !empty && button}>
      <UploadArea uploads={uploads} disabledReason={mayUpload}>
        <Loaded got={got} operation={`list${owner.kind}Files`}>
          {({ data }) => (
            <Box>
              {data.length === 0 ? (
                <EmptyState
                  sentence={owner.fixed ? words.emptyFixed : words.empty}
                  action={owner.fixed ? undefined : button}
                />
              ) : (
                <Table
                  label={words.title}
                  rows={data}
                  columns={columnsOf(owner)}
                  rowKey={({ id }) => id}
                  name={({ name }) => name}
                  actions={actions}
                />
              )}
            </Box>
          )}
        </Loaded>
        <Pager {...pager} />
      </UploadArea>
      {open?.what === 'make' && (
        <MakeFrameDialog owner={owner} file={open.file} onClose={() => setOpen(null)} />
      )}
      {open?.what === 'delete' && (
        <DeleteFileDialog owner={owner} file={open.file} onClose={() => setOpen(null)} />
      )}
    </Section>
  );
};
