import { useEditForm, usePermission } from '../../api/index.ts';
import type { ShownIntegration } from '../../api/types.gen.ts';
import { EditForm, FormFields } from '../../resource/index.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { notify, permissionReason } from '../../ui/index.ts';
import { integrationForm } from './form.ts';

/** Changes an integration. Secrets that are not replaced stay. */
export const SettingsTab = ({
  integration,
  etag,
}: {
  integration: ShownIntegration;
  etag: string | null;
}) => {
  const edit = useEditForm({
    read: 'getIntegration',
    change: 'updateIntegration',
    params: { integration_id: integration.id },
    loaded: { body: integration, etag },
    ...integrationForm.edit,
    disabledReason: permissionReason(usePermission('updateIntegration')),
  });
  return (
    <EditForm edit={edit} {...integrationForm.compare} save={words.save} onSaved={() => notify(words.saved)}>
      <FormFields of={integrationForm} form={edit.form} />
    </EditForm>
  );
};
