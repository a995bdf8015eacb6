import { useEditForm } from '../../api/index.ts';
import type { PublicDataConnection } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { notify, Section } from '../../ui/index.ts';
import { ConnectionFields } from './ConnectionFields.tsx';
import { refusedTest, TestResult } from './sentences.tsx';
import { fieldOf, isMoved, secrets, toChanges, toValues } from './values.ts';

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
    toValues,
    secrets,
    fieldOf,
    toBody: toChanges,
    disabledReason,
  });
  const { form, before } = edit;
  const { password, client_key } = before();
  const tried = refusedTest(form.refusal);
  return (
    <Section label={words.tabs.settings}>
      <EditForm
        edit={edit}
        labels={{ ...words, name: common.name }}
        texts={{ tls: (mode) => words.tlsModes[mode] }}
        onSaved={() => notify(words.saved)}
      >
        <ConnectionFields
          form={form}
          fixed
          stored={{ password: password === null, client_key: client_key === null }}
          moved={isMoved(form.values, before())}
        />
        {tried && <TestResult engine={connection.engine} result={tried} />}
      </EditForm>
    </Section>
  );
};
