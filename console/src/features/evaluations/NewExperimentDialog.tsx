import { useOperation } from '../../api/index.ts';
import type { PublicDataset } from '../../api/types.gen.ts';
import { AgentSelect, SubmitForm, useCreateForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { Dialog, FieldRow, NumberField, optionsOf, Select } from '../../ui/index.ts';
import { experimentHref } from './ExperimentsList.tsx';

/** Runs a version of an agent on a dataset. `dataset`: the one whose page it is opened from. */
export const NewExperimentDialog = ({
  dataset,
  onClose,
}: {
  dataset?: PublicDataset;
  onClose: () => void;
}) => {
  const form = useCreateForm({
    operation: 'createExperiment',
    params: {},
    first: {
      agent_id: null as string | null,
      dataset_id: dataset?.id ?? (null as string | null),
      version: 'draft',
      repetitions: 1 as number | null,
      tools: 'replay' as 'replay' | 'idempotent_live',
      model: 'live' as 'live' | 'recorded',
    },
    toBody: ({ agent_id, dataset_id, version, repetitions, tools, model }) => ({
      // Without one, the API says so.
      agent_id: agent_id as string,
      dataset_id: dataset_id as string,
      version: version === 'draft' || version === 'published' ? version : Number(version),
      repetitions: repetitions ?? 1,
      tools,
      model,
    }),
    created: words.experimentStarted,
    opens: ({ id }) => experimentHref(id),
  });
  const { agent_id, dataset_id, tools, model } = form.values;
  const { data: datasets } = useOperation('listDatasets', {}, { query: { limit: 100 } });
  const { data: agent } = useOperation('getAgent', agent_id === null ? null : { agent_id });
  const mode = dataset?.mode ?? datasets?.data.find(({ id }) => id === dataset_id)?.mode;
  const numbers = agent
    ? Array.from({ length: agent.latest_version }, (_, i) => agent.latest_version - i)
    : [];
  const known = dataset ? [dataset] : [];
  const choices = [...known, ...(datasets?.data ?? []).filter(({ id }) => id !== dataset?.id)];
  return (
    <Dialog open onClose={onClose} title={dataset ? words.runExperiment : words.newExperiment}>
      <SubmitForm form={form} submit={words.startExperiment}>
        <AgentSelect
          {...form.field('agent_id')}
          onChange={(value) => form.set({ agent_id: value, version: 'draft' })}
          label={words.agent}
          mode={mode}
          none={words.noAgent}
        />
        <Select
          {...form.field('dataset_id')}
          label={words.dataset}
          nothing={datasets ? undefined : common.loading}
          options={choices.map(({ id, name, case_count }) => ({
            value: id,
            label: name,
            note: words.cases(case_count),
          }))}
          required
        />
        <FieldRow>
          <Select
            {...form.field('version')}
            onChange={(version) => form.set({ version: version ?? 'draft' })}
            label={words.version}
            hint={form.values.version === 'draft' ? words.draftHint : undefined}
            options={[
              { value: 'draft', label: words.draft },
              { value: 'published', label: words.published },
              ...numbers.map((value) => ({ value: String(value), label: words.versionOf(value) })),
            ]}
          />
          <NumberField
            {...form.field('repetitions')}
            label={words.repetitions}
            hint={words.repetitionsHint}
            min={1}
            max={10}
          />
        </FieldRow>
        <Select
          {...form.field('tools')}
          onChange={(value) => form.set({ tools: value as typeof tools })}
          label={words.tools}
          hint={words.toolsHint[tools]}
          options={optionsOf(words.toolModes)}
        />
        <Select
          {...form.field('model')}
          onChange={(value) => form.set({ model: value as typeof model })}
          label={words.model}
          hint={words.modelHint[model]}
          options={optionsOf(words.modelModes)}
        />
      </SubmitForm>
    </Dialog>
  );
};
