import { usePermission } from '../../api/index.ts';
import type { ObservabilityTestResult, ShownIntegration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { SubmitForm, useCreateForm, useSettingsTest } from '../../resource/index.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, permissionReason } from '../../ui/index.ts';
import { IntegrationFields } from './IntegrationFields.tsx';
import { TestResult } from './TestResult.tsx';
import { fieldOf, type IntegrationValues, noValues, toSettings } from './values.ts';

/** Connects a tracing backend. Its settings can be tested before they are saved. */
export const NewIntegrationPage = () => {
  const mayTest = permissionReason(usePermission('testObservabilitySettings'));
  const form = useCreateForm<ShownIntegration, IntegrationValues>({
    first: noValues,
    post: '/app/api/integrations',
    toBody: (values) => {
      const { description, version, debug } = values;
      const more = description === '' ? {} : { description };
      return { settings: toSettings(values), version, debug, ...more };
    },
    fieldOf,
    disabledReason: permissionReason(usePermission('createIntegration')),
    invalidates: ['/app/api/integrations'],
    created: words.created,
    opens: ({ id }) => to.integration(id),
  });
  const test = useSettingsTest<ObservabilityTestResult, IntegrationValues>(
    form,
    '/api/v2/observability/integrations/test',
    (values) => ({ settings: toSettings(values) }),
  );
  return (
    <Page title={pages.newIntegration} crumbs={[{ label: pages.integrations, href: to.integrations() }]}>
      <SubmitForm
        form={form}
        submit={words.save}
        busy={form.busy && !test.busy}
        discard={to.integrations()}
        actions={
          <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {words.test}
          </Button>
        }
      >
        <IntegrationFields form={form} stored={false} />
        {test.result && <TestResult result={test.result} />}
      </SubmitForm>
    </Page>
  );
};
