import type { ReactNode } from 'react';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { SubmitForm } from '../../resource/index.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Quiet, Textarea, TextField } from '../../ui/index.ts';
import { useModelForm } from './create.ts';

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
  const form = useModelForm(
    '/api/v2/semantic-data-models/import',
    { document: '', name: '' },
    ({ document, name }) => ({
      data_connection_id: connection?.id,
      document,
      ...(name === '' ? {} : { name }),
    }),
    disabledReason,
  );
  return (
    <SubmitForm form={form} submit={words.import} discard={to.semanticDataModels()}>
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
        required
      />
      <TextField {...form.field('name')} label={words.name} hint={words.importNameHint} />
    </SubmitForm>
  );
};
