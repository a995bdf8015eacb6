import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { Dialog, optionsOf, Select, Textarea, TextField } from '../../ui/index.ts';

export const NewDatasetDialog = ({ onClose }: { onClose: () => void }) => {
  const form = useCreateForm({
    operation: 'createDataset',
    params: {},
    first: { name: '', description: '', mode: 'worker' as 'worker' | 'conversational' },
    toBody: ({ name, description, mode }) => ({ name, mode, ...(description && { description }) }),
    created: words.datasetCreated,
    opens: ({ id }) => to('/evaluations/datasets/$datasetId', { datasetId: id }),
  });
  return (
    <Dialog open onClose={onClose} title={words.newDataset}>
      <SubmitForm form={form} submit={words.createDataset}>
        <TextField {...form.field('name')} label={common.name} required autoFocus />
        <Textarea {...form.field('description')} label={words.description} rows={2} />
        <Select
          {...form.field('mode')}
          onChange={(mode) => form.set({ mode: mode as 'worker' })}
          label={words.mode}
          hint={words.modeHint}
          options={optionsOf(words.modes)}
        />
      </SubmitForm>
    </Dialog>
  );
};
