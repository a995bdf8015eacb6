import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { request, useAction, useForm, useInvalidate, usePermission } from '../../api/index.ts';
import type { ObservabilityTestResult, ShownIntegration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Form, notify, Page, Problem, permissionReason } from '../../ui/index.ts';
import { IntegrationFields } from './IntegrationFields.tsx';
import { TestResult } from './TestResult.tsx';
import { noValues, toSettings, withFieldNames } from './values.ts';

/** Connects a tracing backend. Its settings can be tested before they are saved. */
export const NewIntegrationPage = () => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const reason = permissionReason(usePermission('createIntegration'));
  const mayTest = permissionReason(usePermission('testObservabilitySettings'));
  const [result, setResult] = useState<ObservabilityTestResult | null>(null);
  const form = useForm(noValues, async (values) => {
    const { description, version, debug } = values;
    const body = {
      settings: toSettings(values),
      version,
      debug,
      ...(description === '' ? {} : { description }),
    };
    const { body: created } = await withFieldNames(
      request<ShownIntegration>('POST', '/app/api/integrations', { body }),
    );
    notify(words.created);
    await invalidate('/app/api/integrations');
    await navigate({ to: to.integration(created.id) });
  });
  const test = useAction(() =>
    form.submit(async (values) => {
      setResult(null);
      const { body } = await withFieldNames(
        request<ObservabilityTestResult>('POST', '/api/v2/observability/integrations/test', {
          body: { settings: toSettings(values) },
        }),
      );
      setResult(body);
    }),
  );
  return (
    <Page title={pages.newIntegration} crumbs={[{ label: pages.integrations, href: to.integrations() }]}>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy && !test.busy} disabledReason={reason}>
              {words.save}
            </Button>
            <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
              {words.test}
            </Button>
            <ButtonLink kind="quiet" href={to.integrations()}>
              {common.discard}
            </ButtonLink>
          </>
        }
      >
        <IntegrationFields form={form} disabledReason={reason} stored={false} />
        {form.error && <Problem error={form.error} />}
        {result && <TestResult result={result} />}
      </Form>
    </Page>
  );
};
