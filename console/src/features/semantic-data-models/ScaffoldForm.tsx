import { type ReactNode, useState } from 'react';
import { request, useForm } from '../../api/index.ts';
import type { PublicDataConnection, Scaffold } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  Button,
  ButtonLink,
  Checkbox,
  Form,
  Problem,
  Quiet,
  Say,
  Section,
  TextField,
  useSelection,
} from '../../ui/index.ts';
import { useCreate } from './create.ts';
import { FormFaults } from './FormFaults.tsx';
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
  const create = useCreate();
  const selection = useSelection();
  const [shown, setShown] = useState<{ asked: string; scaffold: Scaffold } | null>(null);
  const form = useForm(first, async () => {
    if (!preview) return;
    const { warnings: _warnings, ...body } = preview.scaffold;
    await create('/api/v2/semantic-data-models', body);
  });
  const { name, describe, sample_values } = form.values;
  const body = {
    data_connection_id: connection?.id,
    tables: tablesOf(selection),
    describe,
    sample_values: describe && sample_values,
    ...(name === '' ? {} : { name }),
  };
  // What was shown is no preview of other choices.
  const asked = JSON.stringify(body);
  const preview = shown?.asked === asked ? shown : null;
  const look = () =>
    form.submit(async () => {
      const reply = await request<Scaffold>('POST', '/api/v2/semantic-data-models/scaffold-from-tables', {
        body,
      });
      setShown({ asked, scaffold: reply.body });
    });
  return (
    <Form
      onSubmit={() => void (preview ? form.submit() : look())}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabledReason={disabledReason}>
            {preview ? words.create : words.preview}
          </Button>
          <ButtonLink kind="quiet" href={to.semanticDataModels()}>
            {common.discard}
          </ButtonLink>
        </>
      }
    >
      {children}
      {connection ? (
        <TablePicker connectionId={connection.id} selection={selection} />
      ) : (
        <Quiet>{words.chooseConnection}</Quiet>
      )}
      <TextField
        {...form.field('name')}
        label={words.name}
        hint={words.nameHint}
        disabledReason={disabledReason}
      />
      <Checkbox
        {...form.field('describe')}
        label={words.describe}
        hint={words.describeHint}
        disabledReason={disabledReason}
      />
      {describe && (
        <Checkbox
          {...form.field('sample_values')}
          label={words.sampleValues}
          disabledReason={disabledReason}
        />
      )}
      <FormFaults form={form} />
      {form.error && <Problem error={form.error} />}
      {preview && (
        <Section label={words.preview}>
          {preview.scaffold.warnings.map(({ code, message }) => (
            <Say key={`${code} ${message}`} tone="look" title={message} />
          ))}
          <ModelView model={modelOf(preview.scaffold)} />
        </Section>
      )}
    </Form>
  );
};
