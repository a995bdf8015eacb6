import { path, request, useEditForm, usePermission } from '../../api/index.ts';
import type { ShownIntegration } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import {
  Button,
  Conflict,
  type Difference,
  Form,
  notify,
  Problem,
  permissionReason,
} from '../../ui/index.ts';
import { IntegrationFields } from './IntegrationFields.tsx';
import { type IntegrationValues, toSettings, toValues, withFieldNames } from './values.ts';

const shown = {
  provider: words.provider,
  url: words.url,
  dashboard_instance_id: words.dashboard_instance_id,
  project_name: words.project_name,
  username: words.username,
  stack_name: words.stack_name,
  trace_view_url: words.trace_view_url,
  description: words.description,
} as const satisfies Partial<Record<keyof IntegrationValues, string>>;

/** What differs between the values of someone else and one's own. Secrets are left out. */
const differences = (theirs: IntegrationValues, mine: IntegrationValues): Difference[] =>
  (Object.keys(shown) as (keyof typeof shown)[])
    .filter((name) => theirs[name] !== mine[name])
    .map((name) => ({ label: shown[name], theirs: String(theirs[name]), mine: String(mine[name]) }));

/** Changes an integration. Secrets that are not replaced stay. */
export const SettingsTab = ({
  integration,
  etag,
}: {
  integration: ShownIntegration;
  etag: string | null;
}) => {
  const reason = permissionReason(usePermission('updateIntegration'));
  const address = path`/app/api/integrations/${integration.id}`;
  const { form, saved, theirs, keepTheirs, writeMine, later } = useEditForm({
    path: address,
    loaded: { body: integration, etag },
    toValues,
    save: async (values, ifMatch) => {
      const body = {
        settings: toSettings(values),
        description: values.description || null,
        debug: values.debug,
      };
      const reply = await withFieldNames(request<ShownIntegration>('PUT', address, { body, ifMatch }));
      notify(words.saved);
      return reply;
    },
    invalidates: ['/app/api/integrations'],
  });
  return (
    <>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" busy={form.busy} disabledReason={reason}>
              {words.save}
            </Button>
            {form.dirty && (
              <Button kind="quiet" onClick={() => form.reset()}>
                {common.discard}
              </Button>
            )}
          </>
        }
      >
        <IntegrationFields
          form={form}
          disabledReason={reason}
          stored={form.values.provider === saved.settings.provider}
        />
        {form.error && !form.conflict && <Problem error={form.error} />}
      </Form>
      <Conflict
        open={theirs !== null}
        differences={theirs ? differences(theirs, form.values) : []}
        onKeepTheirs={keepTheirs}
        onWriteMine={() => void writeMine()}
        onClose={later}
        busy={form.busy}
      />
    </>
  );
};
