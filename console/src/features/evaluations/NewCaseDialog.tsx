import { readValue, SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { Dialog, Textarea, TextField } from '../../ui/index.ts';

/** Writes a case by hand. Its page has the rest. */
export const NewCaseDialog = ({ datasetId, onClose }: { datasetId: string; onClose: () => void }) => {
  const form = useCreateForm({
    operation: 'createCase',
    params: { dataset_id: datasetId },
    first: { message: '', name: '', expected: '' },
    toBody: ({ message, name, expected }) => ({
      input: { message },
      ...(name !== '' && { name }),
      ...(expected !== '' && { expected: readValue(expected) }),
    }),
    fieldOf: (path) => (path === 'input.message' ? 'message' : path),
    created: words.caseCreated,
    opens: ({ id }) => to('/evaluations/datasets/$datasetId/cases/$caseId', { datasetId, caseId: id }),
  });
  return (
    <Dialog open onClose={onClose} title={words.newCase}>
      <SubmitForm form={form} submit={words.createCase}>
        <Textarea {...form.field('message')} label={words.message} rows={4} required autoFocus />
        <TextField {...form.field('name')} label={words.name} hint={words.nameHint} />
        <Textarea {...form.field('expected')} label={words.expected} hint={words.expectedHint} rows={3} />
      </SubmitForm>
    </Dialog>
  );
};
