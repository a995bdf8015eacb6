import { type ReactNode, useCallback, useState } from 'react';
import { type Body, perform, useUnsaved } from '../../api/index.ts';
import type { PublicDataConnection, Scaffold } from '../../api/types.gen.ts';
import { SubmitForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Callout, Checkbox, Muted, Section, TextField, useSelection } from '../../ui/index.ts';
import { useModelForm } from './create.ts';
import { ModelView } from './ModelView.tsx';
import { modelOf } from './model.ts';
import { TablePicker, tablesOf } from './TablePicker.tsx';

const first = { name: '', describe: false, sample_values: false };

/** Tables are chosen, the model that they make is looked at, and then it is created as it was shown. */
export const ScaffoldForm = ({
  connection,
  disabledReason,
  children,
}: {
  connection: PublicDataConnection | null;
  disabledReason: string | null;
  children: ReactNode;
}) => {
  const selection = useSelection();
  const [shown, setShown] = useState<{ asked: string; scaffold: Scaffold } | null>(null);
  const form = useModelForm(
    'createSemanticDataModel',
    first,
    (): Body<'createSemanticDataModel'> => {
      const { warnings: _warnings, ...body }: Scaffold = preview!.scaffold;
      return body as Body<'createSemanticDataModel'>;
    },
    disabledReason,
  );
  useUnsaved(() => tablesOf(selection).length > 0 && !form.busy);
  const { name, describe, sample_values } = form.values;
  const body = {
    // Without one, the API says so.
    data_connection_id: connection?.id as string,
    tables: tablesOf(selection),
    describe,
    sample_values: describe && sample_values,
    ...(name === '' ? {} : { name }),
  };
  // A preview of other choices is not shown.
  const asked = JSON.stringify(body);
  const preview = shown?.asked === asked ? shown : null;
  const look = () =>
    form.attempt(async () => {
      const scaffold = (await perform('scaffoldSemanticDataModel', {}, { body })).body;
      if ('warnings' in scaffold) setShown({ asked, scaffold });
    });
  // The preview pushes the button below the window: who looks at it begins at its top.
  const begin = useCallback((section: HTMLElement | null) => section?.focus(), []);
  return (
    <SubmitForm
      form={form}
      submit={preview ? words.create : words.preview}
      onSubmit={() => void (preview ? form.submit() : look())}
      discard={to('/semantic-data-models')}
    >
      {children}
      {connection ? (
        <TablePicker connectionId={connection.id} selection={selection} />
      ) : (
        <Muted>{words.chooseConnection}</Muted>
      )}
      <TextField {...form.field('name')} label={words.name} hint={words.nameHint} />
      <Checkbox {...form.field('describe')} label={words.describe} hint={words.describeHint} />
      {describe && <Checkbox {...form.field('sample_values')} label={words.sampleValues} />}
      {preview && (
        <Section key={asked} ref={begin} label={words.preview}>
          {preview.scaffold.warnings.map(({ code, message }) => (
            <Callout key={`${code} ${message}`} tone="look" title={message} />
          ))}
          <ModelView model={modelOf(preview.scaffold)} />
        </Section>
      )}
    </SubmitForm>
  );
};
