import { type LoadState, useEditForm, useOperation, usePermission } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { versions as words } from '../../text/en/versions.ts';
import {
  FieldRow,
  NumberField,
  notify,
  optionsOf,
  Section,
  Select,
  useDisabledReason,
} from '../../ui/index.ts';
import { LoadedAgent } from './AgentForm.tsx';
import css from './fields.module.css';

const toValues = ({ release, gate }: PublicAgent) => ({
  release,
  dataset_id: gate?.dataset_id ?? null,
  trials: (gate?.trials ?? 3) as number | null,
  max_drop: (gate?.max_drop ?? 0.03) as number | null,
  confidence: (gate?.confidence ?? 0.95) as number | null,
});
type Values = ReturnType<typeof toValues>;

/** Points and percent count as the shares that they are: 3 as 0.03. */
const share = (value: number): number => (value > 1 ? value / 100 : value);

const gateOf = (agent: PublicAgent, { release, dataset_id, trials, max_drop, confidence }: Values) =>
  release === 'automatic' || dataset_id === null
    ? null
    : {
        ...agent.gate,
        dataset_id,
        ...(trials !== null && { trials }),
        ...(max_drop !== null && { max_drop: share(max_drop) }),
        ...(confidence !== null && { confidence: share(confidence) }),
      };

const ReleaseFields = ({ agent, got }: { agent: PublicAgent; got: LoadState<PublicAgent> }) => {
  const mayUpdate = useDisabledReason('updateAgent');
  const mayGate = useDisabledReason('updateAgent', 'admin');
  const edit = useEditForm({
    read: 'getAgent',
    change: 'updateAgent',
    params: { agent_id: agent.id },
    loaded: { body: agent, etag: got.etag },
    toValues,
    // Who may not change the gate sends none.
    toBody: (values, before) => {
      const gate = gateOf(agent, values);
      const same = JSON.stringify(gate) === JSON.stringify(gateOf(agent, before));
      return { release: values.release, ...(!same && { gate }) };
    },
    fieldOf: (path) => (path === 'gate' ? 'dataset_id' : path.replace(/^gate\./, '')),
    disabledReason: mayUpdate,
  });
  const { form } = edit;
  const { release } = form.values;
  const manual = release === 'manual';
  const { allowed } = usePermission('listDatasets');
  const { data } = useOperation('listDatasets', {}, { query: { limit: 100 }, enabled: allowed && manual });
  const datasets = data?.data.filter(({ mode }) => mode === agent.mode) ?? [];
  const known = datasets.map(({ id, name }) => ({ value: id, label: name }));
  const named = form.values.dataset_id;
  const options =
    named !== null && known.every(({ value }) => value !== named)
      ? [...known, { value: named, label: named.slice(0, 8) }]
      : known;
  const field = <N extends 'trials' | 'max_drop' | 'confidence'>(name: N) => ({
    ...form.field(name),
    disabledReason: mayGate,
  });
  const save = (
    <EditForm
      edit={edit}
      labels={{
        release: words.release,
        dataset_id: words.dataset,
        trials: words.trials,
        max_drop: words.largestDrop,
        confidence: words.confidence,
      }}
      onSaved={() => notify(words.saved)}
    >
      {manual && (
        <>
          <Select
            {...form.field('dataset_id')}
            disabledReason={mayGate}
            label={words.dataset}
            hint={words.datasetHint}
            options={options}
            nothing={words.noDatasets}
            clearable
          />
          <FieldRow>
            <NumberField {...field('trials')} label={words.trials} hint={words.trialsHint} min={1} max={10} />
            <NumberField
              {...field('max_drop')}
              label={words.largestDrop}
              hint={words.largestDropHint}
              min={0}
            />
            <NumberField
              {...field('confidence')}
              label={words.confidence}
              hint={words.confidenceHint}
              min={0}
            />
          </FieldRow>
        </>
      )}
    </EditForm>
  );
  return (
    <div className={css.release}>
      <Select
        {...form.field('release')}
        onChange={(value) => form.set({ release: value as Values['release'] })}
        label={words.release}
        hint={agent.gate && !manual ? words.gateRemoved : words.releaseHint}
        options={optionsOf(words.releases)}
      />
      <div className={css.gate}>
        {manual ? (
          <Section title={words.gate} note={words.gateText}>
            {save}
          </Section>
        ) : (
          save
        )}
      </div>
    </div>
  );
};

/** Form of the release settings of an agent: `release` and, with `manual`, its gate. */
export const ReleaseForm = ({ agentId }: { agentId: string }) => (
  <Section title={words.release}>
    <LoadedAgent agentId={agentId}>{(agent, got) => <ReleaseFields agent={agent} got={got} />}</LoadedAgent>
  </Section>
);
