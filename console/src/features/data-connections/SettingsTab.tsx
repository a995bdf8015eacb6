import { useEditForm } from '../../api/index.ts';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { EditForm, FormFields } from '../../resource/index.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { notify, Section } from '../../ui/index.ts';
import { connectionForm } from './form.ts';
import { refusedTest, TestResult } from './sentences.tsx';

/** Changes a data connection. Secrets that are not replaced stay; another configuration is tested before it is saved. */
export const SettingsTab = ({
  connection,
  etag,
  disabledReason,
}: {
  connection: PublicDataConnection;
  etag: string | null;
  disabledReason: string | null;
}) => {
  const edit = useEditForm({
    read: 'getDataConnection',
    change: 'updateDataConnection',
    params: { data_connection_id: connection.id },
    loaded: { body: connection, etag },
    ...connectionForm.edit,
    disabledReason,
  });
  const { form, before } = edit;
  const tried = refusedTest(form.refusal);
  // The stored password would go to another place, or over another way, than the one it was given for.
  const { configuration = {} } = connectionForm.edit.toBody(form.values, before());
  const moved = Object.keys(configuration).some((name) => !['database', 'password', 'path'].includes(name));
  return (
    <Section label={words.tabs.settings}>
      <EditForm edit={edit} {...connectionForm.compare} onSaved={() => notify(words.saved)}>
        <FormFields
          of={connectionForm}
          form={form}
          exists
          more={
            moved && before().password === null
              ? { password: { value: form.values.password ?? '', hint: words.passwordAgain, required: true } }
              : {}
          }
        />
        {tried && <TestResult engine={connection.engine} result={tried} />}
      </EditForm>
    </Section>
  );
};
