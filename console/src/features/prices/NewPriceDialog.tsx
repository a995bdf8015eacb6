import type { Body } from '../../api/index.ts';
import { SubmitForm, useCreateForm, useLlmOptions } from '../../resource/index.ts';
import { prices as words } from '../../text/en/prices.ts';
import { timeOfField } from '../../time/index.ts';
import { Dialog, FieldRow, Select, TextField } from '../../ui/index.ts';

type RateName = keyof typeof words.rates;
const rateNames = Object.keys(words.rates) as RateName[];
const pairs: readonly (readonly RateName[])[] = [
  ['input', 'output'],
  ['cache_read', 'reasoning'],
  ['cache_write', 'cache_write_1h'],
  ['input_audio', 'output_audio'],
];

const noRates = Object.fromEntries(rateNames.map((name) => [name, ''])) as Record<RateName, string>;

type Rates = Body<'createPrice'>['rates'];

/** A comma is what many people write. */
const ratesOf = (values: Record<RateName, string>): Rates =>
  Object.fromEntries(
    rateNames.flatMap((name) => {
      const rate = values[name].trim().replace(',', '.');
      return rate === '' ? [] : [[name, rate]];
    }),
  ) as Rates;

/** What the dialog begins with: the model of a call without a price. */
export interface FirstPrice {
  model: string;
  llm_id: string | null;
}

export const NewPriceDialog = ({ first, onClose }: { first: FirstPrice; onClose: () => void }) => {
  const llms = useLlmOptions();
  const form = useCreateForm({
    operation: 'createPrice',
    params: {},
    first: { ...first, ...noRates, valid_from: '', valid_to: '' },
    toBody: ({ model, llm_id, valid_from, valid_to, ...rates }) => ({
      model,
      llm_id,
      rates: ratesOf(rates),
      ...(valid_from === '' ? {} : { valid_from: timeOfField(valid_from) }),
      ...(valid_to === '' ? {} : { valid_to: timeOfField(valid_to) }),
    }),
    fieldOf: (path) => path.replace(/^rates\./, ''),
    created: words.created,
    onCreated: onClose,
  });
  const rate = (name: RateName) => (
    <TextField
      key={name}
      {...form.field(name)}
      label={words.rates[name]}
      hint={words.rateHints[name]}
      required={name === 'input' || name === 'output'}
    />
  );
  return (
    <Dialog open onClose={onClose} title={words.newPrice}>
      <SubmitForm form={form} submit={words.createPrice}>
        <p>{words.newText}</p>
        <TextField
          {...form.field('model')}
          label={words.model}
          hint={words.modelHint}
          mono
          required
          autoFocus
        />
        <Select
          {...form.field('llm_id')}
          label={words.llm}
          hint={words.llmHint}
          clearable
          options={llms.options}
          nothing={llms.nothing}
          disabledReason={form.disabledReason ?? llms.reason}
        />
        {pairs.map((names) => (
          <FieldRow key={names.join()}>{names.map(rate)}</FieldRow>
        ))}
        {rate('request')}
        <FieldRow>
          <TextField
            {...form.field('valid_from')}
            type="datetime-local"
            label={words.validFrom}
            hint={words.validFromHint}
          />
          <TextField
            {...form.field('valid_to')}
            type="datetime-local"
            label={words.validTo}
            hint={words.validToHint}
          />
        </FieldRow>
      </SubmitForm>
    </Dialog>
  );
};
