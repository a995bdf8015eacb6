import type { ReactNode } from 'react';
import { useForm } from '../../api/index.ts';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Button, ButtonLink, Form, Problem, Quiet, Textarea, TextField } from '../../ui/index.ts';
import { useCreate } from './create.ts';
import { FormFaults } from './FormFaults.tsx';

/** Creates a model of a document that was pasted or read from a file. */
export const ImportForm = ({
  connection,
  disabledReason,
  children,
}: {
  connection: PublicDataConnection | null;
  disabledReason: string | null;
  children: ReactNode;
}) => {
  const create = useCreate();
  const form = useForm({ document: '', name: '' }, async ({ document, name }) => {
    const body = { data_connection_id: connection?.id, document, ...(name === '' ? {} : { name }) };
    await create('/api/v2/semantic-data-models/import', body);
  });
  return (
    <Form
      onSubmit={() => void form.submit()}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabledReason={disabledReason}>
            {words.import}
          </Button>
          <ButtonLink kind="quiet" href={to.semanticDataModels()}>
            {common.discard}
          </ButtonLink>
        </>
      }
    >
      {children}
      <label>
        <Quiet small>{words.chooseFile}</Quiet>{' '}
        <input
          type="file"
          accept=".yaml,.yml,.json"
          onChange={async (event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) form.set({ document: await file.text() });
          }}
        />
      </label>
      <Textarea
        {...form.field('document')}
        label={words.document}
        hint={words.documentHint}
        rows={14}
        mono
        disabledReason={disabledReason}
        required
      />
      <TextField
        {...form.field('name')}
        label={words.name}
        hint={words.importNameHint}
        disabledReason={disabledReason}
      />
      <FormFaults form={form} />
      {form.error && <Problem error={form.error} />}
    </Form>
  );
};
