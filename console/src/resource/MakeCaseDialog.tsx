import { useState } from 'react';
import { ApiProblem, type Body, call, perform, useForm, useOperation } from '../api/index.ts';
import { to } from '../routing/to.ts';
import { common } from '../text/en/common.ts';
import { makeCase as words } from '../text/en/make-case.ts';
import { Dialog, Link, notify, Select, Textarea, TextField, Words } from '../ui/index.ts';
import { readValue } from './json.ts';
import { SubmitForm } from './SubmitForm.tsx';

/** Choice that makes a dataset first. */
const another = 'new';

type Source = Pick<Body<'createCase'>, 'work_item_id' | 'run_id'>;

/** Makes a case of a finished run, in a dataset that is there or in a new one. */
export const MakeCaseDialog = ({
  source,
  mode,
  onClose,
}: {
  source: Source;
  mode: 'worker' | 'conversational';
  onClose: () => void;
}) => {
  const { data } = useOperation('listDatasets', {}, { query: { limit: 100 } });
  const datasets = (data?.data ?? []).filter((dataset) => dataset.mode === mode);
  const [made, setMade] = useState<{ datasetId: string; caseId: string } | null>(null);
  // If the case is refused, the next attempt takes the dataset that is there now.
  const [begun, setBegun] = useState<{ id: string; name: string } | null>(null);
  const newDataset = async (name: string): Promise<string> => {
    if (begun?.name === name) return begun.id;
    try {
      const { body } = await call('createDataset', {}, { body: { name, mode } });
      setBegun({ id: body.id, name });
      return body.id;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      // The case has a name, too.
      const details = error.details.map(({ message }) => ({ path: 'dataset_name', message }));
      throw new ApiProblem(error.status, { ...error.fields, details });
    }
  };
  const first = { dataset: null as string | null, dataset_name: '', name: '', expected: '', tags: '' };
  const form = useForm(first, async ({ dataset, dataset_name, name, expected, tags }) => {
    const chosen = dataset ?? datasets[0]?.id ?? another;
    const datasetId = chosen === another ? await newDataset(dataset_name) : chosen;
    const { body } = await perform(
      'createCase',
      { dataset_id: datasetId },
      {
        body: {
          ...source,
          ...(name.trim() !== '' && { name: name.trim() }),
          ...(expected.trim() !== '' && { expected: readValue(expected) }),
          tags: tags
            .split(',')
            .map((tag) => tag.trim())
            .filter((tag) => tag !== ''),
        },
      },
    );
    notify(words.created);
    setMade({ datasetId, caseId: body.id });
  });
  const chosen = form.values.dataset ?? datasets[0]?.id ?? another;
  return (
    <Dialog open onClose={onClose} title={words.makeCase}>
      {made ? (
        <p role="status">
          <Words
            text={words.made}
            link={<Link href={to('/evaluations/datasets/$datasetId/cases/$caseId', made)}>{words.open}</Link>}
          />
        </p>
      ) : (
        <SubmitForm form={form} submit={words.create}>
          <p>{words.text}</p>
          <Select
            {...form.field('dataset')}
            value={data ? chosen : null}
            label={words.dataset}
            nothing={data ? undefined : common.loading}
            options={[
              ...datasets.map(({ id, name }) => ({ value: id, label: name })),
              { value: another, label: words.newDataset },
            ]}
          />
          {data && chosen === another && (
            <TextField {...form.field('dataset_name')} label={words.newDatasetName} required />
          )}
          <TextField {...form.field('name')} label={words.name} hint={words.nameHint} />
          <Textarea {...form.field('expected')} label={words.expected} hint={words.expectedHint} rows={3} />
          <TextField {...form.field('tags')} label={words.tags} hint={words.tagsHint} />
        </SubmitForm>
      )}
    </Dialog>
  );
};
