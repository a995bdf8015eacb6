import type { ReactNode } from 'react';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { SubmitForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Muted, Textarea, TextField } from '../../ui/index.ts';
import { useModelForm } from './create.ts';

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
    'importSemanticDataModel',
    { document: '', name: '' },
    ({ document, name }) => ({
      // Without one, the API says so.
      data_connection_id: connection?.id as string,
      document,
      ...(name === '' ? {} : { name }),
    }),
    disabledReason,
  );
  return (
    <SubmitForm form={form} submit={words.import} discard={to('/semantic-data-models')}>
      {children}
      <label>
        <Muted small>{words.chooseFile}</Muted>{' '}
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
