import { useNavigate } from '@tanstack/react-router';
import { request, useAction, useForm, useInvalidate, usePermission } from '../../api/index.ts';
import type { DataConnectionTestResult, PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Form, notify, Page, permissionReason } from '../../ui/index.ts';
import { ConnectionFields } from './ConnectionFields.tsx';
import { FormProblems, useTried } from './refusals.tsx';
import { TestResult } from './sentences.tsx';
import { noValues, toBody, toTestBody, withFieldNames } from './values.ts';

/** Connects a database. It can be tested before; it is tested in any case, and not created if that fails. */
export const NewDataConnectionPage = () => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const reason = permissionReason(usePermission('createDataConnection'));
  const mayTest = permissionReason(usePermission('testDataConnectionSettings'));
  const { tried, setTried, keepSteps } = useTried();
  const form = useForm(noValues, async (values) => {
    const { body } = await keepSteps(
      withFieldNames(
        request<PublicDataConnection>('POST', '/api/v2/data-connections', { body: toBody(values) }),
      ),
    );
    notify(words.created);
    await invalidate('/api/v2/data-connections');
    await navigate({ to: to.dataConnection(body.id) });
  });
  const test = useAction(() =>
    form.submit(async (values) => {
      setTried(null);
      const { body } = await withFieldNames(
        request<DataConnectionTestResult>('POST', '/api/v2/data-connections/test', {
          body: toTestBody(values),
        }),
      );
      setTried(body);
    }),
  );
  return (
    <Page
      title={pages.newDataConnection}
      crumbs={[{ label: pages.dataConnections, href: to.dataConnections() }]}
    >
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy && !test.busy} disabledReason={reason}>
              {words.create}
            </Button>
            <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
              {common.test}
            </Button>
            <ButtonLink kind="quiet" href={to.dataConnections()}>
              {common.discard}
            </ButtonLink>
          </>
        }
      >
        <ConnectionFields
          form={form}
          stored={{ password: false, client_key: false }}
          moved={false}
          disabledReason={reason}
        />
        <FormProblems form={form} />
        {tried && <TestResult engine={form.values.engine} result={tried} />}
      </Form>
    </Page>
  );
};
