import { useEditForm } from '../../api/index.ts';
import type { UsedToolServer } from '../../api/types.gen.ts';
import { EditForm, FormFields, UsedByAgents } from '../../resource/index.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Columns, notify, Section } from '../../ui/index.ts';
import { toolServerForm } from './form.ts';

/** Changes a tool server. Secrets that are not replaced stay. */
export const SettingsTab = ({
  server,
  etag,
  disabledReason,
}: {
  server: UsedToolServer;
  etag: string | null;
  disabledReason: string | null;
}) => {
  const edit = useEditForm({
    read: 'getUsedToolServer',
    change: 'updateToolServer',
    params: { tool_server_id: server.id },
    loaded: { body: server, etag },
    ...toolServerForm.edit,
    disabledReason,
  });
  return (
    <Columns
      side={
        <Section title={words.usedBy}>
          <UsedByAgents used_by={server.used_by} tab="tools" none={words.unnamed} />
        </Section>
      }
    >
      <EditForm edit={edit} {...toolServerForm.compare} onSaved={() => notify(words.saved)}>
        <FormFields of={toolServerForm} form={edit.form} exists />
      </EditForm>
    </Columns>
  );
};
