import { useEditForm, usePermission } from '../../api/index.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { EditForm, FormFields } from '../../resource/index.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { notify, permissionReason } from '../../ui/index.ts';
import { llmForm } from './form.ts';

/** Changes an LLM configuration. Secrets that are not replaced stay. */
export const SettingsForm = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getUsedLlmConfiguration',
    change: 'updateLlmConfiguration',
    params: { llm_id: llm.id },
    loaded: { body: llm, etag },
    ...llmForm.edit,
    disabledReason: permissionReason(usePermission('updateLlmConfiguration')),
  });
  return (
    <EditForm edit={edit} {...llmForm.compare} onSaved={() => notify(words.saved)}>
      <FormFields of={llmForm} form={edit.form} exists />
    </EditForm>
  );
};
