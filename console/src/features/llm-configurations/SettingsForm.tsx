import { useEditForm, usePermission } from '../../api/index.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { notify, permissionReason } from '../../ui/index.ts';
import { LlmFields } from './LlmFields.tsx';
import { secrets, toChanges, toValues } from './values.ts';

/** Changes an LLM configuration. Secrets that are not replaced stay. */
export const SettingsForm = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getUsedLlmConfiguration',
    change: 'updateLlmConfiguration',
    params: { llm_id: llm.id },
    loaded: { body: llm, etag },
    toValues,
    secrets,
    toBody: toChanges,
    disabledReason: permissionReason(usePermission('updateLlmConfiguration')),
  });
  const { form, saved } = edit;
  return (
    <EditForm edit={edit} labels={{ ...words, name: common.name }} onSaved={() => notify(words.saved)}>
      <LlmFields
        form={form}
        fixed
        stored={{
          api_key: saved.api_key_set ?? false,
          secret_access_key: saved.secret_access_key_set ?? false,
          session_token: saved.session_token_set ?? false,
          headers: saved.header_names ?? [],
        }}
      />
    </EditForm>
  );
};
