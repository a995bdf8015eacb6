import { useEditForm } from '../../api/index.ts';
import type { PublicDataset } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { notify, Textarea, TextField, useDisabledReason } from '../../ui/index.ts';
import { GraderList } from './GraderList.tsx';
import { toGraderBodies, toGraderValues } from './graders.ts';

const most = 20;

/** The graders of a dataset, its name and its description. */
export const GradersTab = ({ dataset, etag }: { dataset: PublicDataset; etag: string | null }) => {
  const disabledReason = useDisabledReason('updateDataset');
  const edit = useEditForm({
    read: 'getDataset',
    change: 'updateDataset',
    params: { dataset_id: dataset.id },
    loaded: { body: dataset, etag },
    toValues: ({ name, description, graders }) => ({
      graders: toGraderValues(graders),
      name,
      description: description ?? '',
    }),
    toBody: ({ name, description, graders }) => ({
      name,
      description: description || null,
      graders: toGraderBodies(graders),
    }),
    disabledReason,
  });
  const { form } = edit;
  return (
    <EditForm
      edit={edit}
      labels={{ graders: words.graders, name: common.name, description: words.description }}
      texts={{ graders: (list) => JSON.stringify(list, null, 2) }}
      onSaved={() => notify(words.datasetSaved)}
    >
      <p>{words.gradersText}</p>
      <GraderList {...form.field('graders')} most={most} none={words.noGraders} />
      <TextField {...form.field('name')} label={common.name} required />
      <Textarea {...form.field('description')} label={words.description} rows={2} />
    </EditForm>
  );
};
