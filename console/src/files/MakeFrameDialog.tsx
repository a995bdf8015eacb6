import { useNavigate } from '@tanstack/react-router';
import { useCreate, useForm, useInvalidate } from '../api/index.ts';
import type { PublicDataFrame, PublicFile } from '../api/types.gen.ts';
import { useUrlState } from '../app/url-state.ts';
import { FormProblems } from '../resource/index.ts';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { ActionDialog, Checkbox, notify, TextField } from '../ui/index.ts';
import { type FileOwner, framesPath, isSpreadsheet } from './owner.ts';

const first = { name: '', sheet: '', header: true };

/** Makes a data frame of a file, and opens it. */
export const MakeFrameDialog = ({
  owner,
  file,
  onClose,
}: {
  owner: FileOwner;
  file: PublicFile;
  onClose: () => void;
}) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const { href } = useUrlState<{ frame?: string }>();
  const create = useCreate();
  const send = async ({ name, sheet, header }: typeof first) => {
    const source = { kind: 'file', file_id: file.id, sheet: sheet.trim() || null, header };
    const made = { name: name.trim() || null, source };
    const { body } = await create<PublicDataFrame>(framesPath(owner), made);
    notify(words.made);
    onClose();
    await invalidate(framesPath(owner));
    await navigate({ href: href({ frame: body.name }) });
  };
  const form = useForm(first, send, { fieldOf: (path) => path.replace(/^source\./, '') });
  const fields = (
    <>
      <TextField {...form.field('name')} label={common.name} hint={words.nameHint} mono autoFocus />
      {isSpreadsheet(file.name) && (
        <TextField {...form.field('sheet')} label={words.sheet} hint={words.sheetHint} />
      )}
      <Checkbox {...form.field('header')} label={words.header} />
    </>
  );
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.makeTitle}
      onConfirm={() => void form.submit()}
      busy={form.busy}
    >
      <p>
        <b>
          <bdi>{file.name}</bdi>
        </b>
      </p>
      {fields}
      <FormProblems form={form} />
    </ActionDialog>
  );
};
