import { useEditForm, usePermission } from '../../api/index.ts';
import type { ShownIntegration } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { notify, permissionReason } from '../../ui/index.ts';
import { IntegrationFields } from './IntegrationFields.tsx';
import { fieldOf, secrets, toSettings, toValues } from './values.ts';

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
    toValues,
    secrets,
    fieldOf,
    toBody: (values) => ({
      settings: toSettings(values),
      description: values.description || null,
      debug: values.debug,
    }),
    disabledReason: permissionReason(usePermission('updateIntegration')),
  });
  const { form, saved } = edit;
  return (
    <EditForm edit={edit} labels={words} save={words.save} onSaved={() => notify(words.saved)}>
      <IntegrationFields form={form} stored={form.values.provider === saved.settings.provider} />
    </EditForm>
  );
};
