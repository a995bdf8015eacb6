import { usePermission } from '../../api/index.ts';
import { FormFields, SubmitForm, useCreateForm, useSettingsTest } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, permissionReason, TestSteps } from '../../ui/index.ts';
import { integrationForm } from './form.ts';

/** Connects a tracing backend. Its settings can be tested before they are saved. */
export const NewIntegrationPage = () => {
  const mayTest = permissionReason(usePermission('testObservabilitySettings'));
  const form = useCreateForm({
    operation: 'createIntegration',
    params: {},
    ...integrationForm.create,
    toBody: (values) => ({ ...integrationForm.create.toBody(values), version: '1' }),
    disabledReason: permissionReason(usePermission('createIntegration')),
    created: words.created,
    opens: ({ id }) => to('/integrations/$integrationId', { integrationId: id }),
  });
  const test = useSettingsTest(form, 'testObservabilitySettings', (values) => ({
    settings: integrationForm.create.toBody(values).settings,
  }));
  return (
    <Page title={pages.newIntegration} crumbs={[{ label: pages.integrations, href: to('/integrations') }]}>
      <SubmitForm
        form={form}
        submit={words.save}
        busy={form.busy && !test.busy}
        discard={to('/integrations')}
        actions={
          <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {words.test}
          </Button>
        }
      >
        <FormFields of={integrationForm} form={form} />
        {test.result && <TestSteps words={words} result={test.result} />}
      </SubmitForm>
    </Page>
  );
};
