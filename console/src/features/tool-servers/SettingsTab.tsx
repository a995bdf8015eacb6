import { useEditForm } from '../../api/index.ts';
import type { UsedToolServer } from '../../api/types.gen.ts';
import { EditForm, UsedByAgents } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Columns, notify, Section } from '../../ui/index.ts';
import { ToolServerFields } from './ToolServerFields.tsx';
import { fieldOf, secrets, toChanges, toValues } from './values.ts';

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
    toValues,
    secrets,
    fieldOf,
    toBody: toChanges,
    disabledReason,
  });
  const { form, saved } = edit;
  return (
    <Columns
      side={
        <Section title={words.usedBy}>
          <UsedByAgents used_by={server.used_by} tab="tools" none={words.noAgents} />
        </Section>
      }
    >
      <EditForm
        edit={edit}
        labels={{ ...words, name: common.name }}
        texts={{ default_policy: (policy) => words.policies[policy] }}
        onSaved={() => notify(words.saved)}
      >
        <ToolServerFields
          form={form}
          fixed
          stored={{
            headers: saved.header_names,
            env: saved.env_names,
            client_secret: saved.oauth?.client_secret_set ?? false,
          }}
        />
      </EditForm>
    </Columns>
  );
};
