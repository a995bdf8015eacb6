import { useNavigate } from '@tanstack/react-router';
import { ApiProblem, request, useForm, useInvalidate, withFaultPaths } from '../api/index.ts';
import type { PublicDataFrame, PublicFile } from '../api/types.gen.ts';
import { useUrlState } from '../app/url-state.ts';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { ActionDialog, Checkbox, notify, Problem, TextField } from '../ui/index.ts';
import { type FileOwner, framesPath, isSpreadsheet } from './owner.ts';

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
  const form = useForm({ name: '', sheet: '', header: true }, async ({ name, sheet, header }) => {
    const source = { kind: 'file', file_id: file.id, sheet: sheet.trim() || null, header };
    const { body } = await withFaultPaths(
      request<PublicDataFrame>('POST', framesPath(owner), { body: { name: name.trim() || null, source } }),
      (path) => path.replace(/^source\./, ''),
    );
    notify(words.made);
    onClose();
    await invalidate(framesPath(owner));
    await navigate({ to: href({ frame: body.name }) });
  });
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
      error={form.error}
    >
      <p>
        <b>
          <bdi>{file.name}</bdi>
        </b>
      </p>
      {fields}
      {form.otherFaults.length > 0 && (
        <Problem error={new ApiProblem(422, { details: form.otherFaults, message: '' })} />
      )}
    </ActionDialog>
  );
};
