import { type ReactNode, useState } from 'react';
import { addressOf, listPolling, urlOf, useBaseUrl, useOperation } from '../api/index.ts';
import type { PublicFile } from '../api/types.gen.ts';
import { DeleteDialog } from '../resource/index.ts';
import { to } from '../routing/to.ts';
import { useCursor, useUrlState } from '../routing/url-state.ts';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { bytes } from '../text/index.ts';
import { Time } from '../time/index.ts';
import {
  Bar,
  Box,
  Button,
  ButtonLink,
  type Column,
  EmptyState,
  Loaded,
  type MenuEntry,
  Pager,
  Section,
  Table,
  TwoLines,
  useDisabledReason,
} from '../ui/index.ts';
import css from './files.module.css';
import { MakeFrameDialog } from './MakeFrameDialog.tsx';
import { type FileOwner, isDocument, isPlainTable, isTable } from './owner.ts';
import { UploadArea, UploadButton } from './UploadArea.tsx';
import { useUploads } from './uploads.ts';
import { Maker } from './who.tsx';

const columnsOf = (
  owner: FileOwner,
  offers: (file: PublicFile) => ReactNode,
): readonly Column<PublicFile>[] => [
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
  { key: 'offers', title: words.offers, phone: 'below', cell: offers },
];

const DeleteFileDialog = ({
  owner,
  file,
  onClose,
}: {
  owner: FileOwner;
  file: PublicFile;
  onClose: () => void;
}) => (
  <DeleteDialog
    operation={owner.operations.deleteFile}
    params={{ ...owner.params, file_id: file.id }}
    title={words.deleteFile}
    name={file.name}
    deleted={words.fileDeleted}
    onClose={onClose}
  >
    <p>{words.deleteFileText}</p>
  </DeleteDialog>
);

export const download = (address: string) => {
  const link = Object.assign(document.createElement('a'), { href: address, download: '' });
  link.click();
};

/** The files of a conversation or a Work Item: uploaded by a button or by dropping them, and what can be made of them. */
export const Files = ({ owner }: { owner: FileOwner }) => {
  const { search } = useUrlState<{ next?: string }>();
  const { operations, params } = owner;
  const got = useOperation(operations.listFiles, params, {
    query: { next: search.next, limit: 100 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const curl = `curl ${urlOf(useBaseUrl(), operations.uploadFile, params)} -H "Authorization: Bearer $KEY" \\\n  -F file=@invoice.pdf`;
  const pager = useCursor(got.data?.next);
  const uploads = useUploads(owner);
  const mayRead = useDisabledReason(operations.downloadFile);
  const mayUpload = useDisabledReason(operations.uploadFile) ?? owner.fixed;
  const mayDelete = useDisabledReason(operations.deleteFile) ?? owner.fixed;
  const mayMake = useDisabledReason(operations.makeFrame);
  const mayExtract = useDisabledReason('createExtraction');
  const [open, setOpen] = useState<{ what: 'make' | 'delete'; file: PublicFile } | null>(null);
  const button = <UploadButton uploads={uploads} disabledReason={mayUpload} />;
  const actions = (file: PublicFile): MenuEntry[] => [
    {
      label: common.download,
      onSelect: () => download(addressOf(operations.downloadFile, { ...params, file_id: file.id })),
      disabledReason: mayRead,
    },
    {
      label: words.makeFrame,
      onSelect: () => setOpen({ what: 'make', file }),
      disabledReason: mayMake ?? (isTable(file.name) ? null : words.noTable),
    },
    {
      label: words.extract,
      href: to('/extractions/new', {}, { ...params, file_id: file.id }),
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
  const offers = (file: PublicFile) => (
    <Bar>
      {isTable(file.name) && (
        <Button
          small
          disabledReason={mayMake}
          aria-label={words.makeFrameOf(file.name)}
          onClick={() => setOpen({ what: 'make', file })}
        >
          {words.makeFrame}
        </Button>
      )}
      {isDocument(file) && !isPlainTable(file.name) && (
        <ButtonLink
          small
          href={to('/extractions/new', {}, { ...params, file_id: file.id })}
          disabledReason={mayExtract}
          label={words.extractOf(file.name)}
        >
          {words.extract}
        </ButtonLink>
      )}
    </Bar>
  );
  const empty = got.data?.data.length === 0;
  return (
    <Section title={words.title} note={words.note} aside={got.data && !empty && button}>
      <UploadArea uploads={uploads} disabledReason={mayUpload}>
        <Loaded got={got} operation={operations.listFiles}>
          {({ data }) => (
            <Box>
              {data.length === 0 ? (
                <EmptyState
                  sentence={owner.fixed ? words.emptyFixed : words.empty}
                  action={owner.fixed ? undefined : button}
                  {...(owner.fixed ? {} : { curl })}
                />
              ) : (
                <Table
                  label={words.title}
                  rows={data}
                  columns={columnsOf(owner, offers)}
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
