import { useNavigate } from '@tanstack/react-router';
import { perform, useForm } from '../api/index.ts';
import type { PublicFile } from '../api/types.gen.ts';
import { FormProblems } from '../resource/index.ts';
import { useUrlState } from '../routing/url-state.ts';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { ActionDialog, Checkbox, notify, TextField } from '../ui/index.ts';
import { type FileOwner, isSpreadsheet } from './owner.ts';

const first = { name: '', sheet: '', header: true };

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
  const { href } = useUrlState<{ frame?: string }>();
  const send = async ({ name, sheet, header }: typeof first) => {
    const source = { kind: 'file' as const, file_id: file.id, sheet: sheet.trim() || null, header };
    const { body } = await perform(owner.operations.makeFrame, owner.params, {
      body: { name: name.trim() || null, source },
    });
    notify(words.made);
    onClose();
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
