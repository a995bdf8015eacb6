import { usePermission } from '../../api/index.ts';
import type { DataConnectionTestResult, PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { SubmitForm, useCreateForm, useSettingsTest } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, permissionReason } from '../../ui/index.ts';
import { ConnectionFields } from './ConnectionFields.tsx';
import { refusedTest, TestResult } from './sentences.tsx';
import { type ConnectionValues, fieldOf, noValues, toBody, toTestBody } from './values.ts';

/** Connects a database. It can be tested before; it is tested in any case, and not created if that fails. */
export const NewDataConnectionPage = () => {
  const mayTest = permissionReason(usePermission('testDataConnectionSettings'));
  const form = useCreateForm<PublicDataConnection, ConnectionValues>({
    first: noValues,
    post: '/api/v2/data-connections',
    toBody,
    fieldOf,
    disabledReason: permissionReason(usePermission('createDataConnection')),
    invalidates: ['/api/v2/data-connections'],
    created: words.created,
    opens: ({ id }) => to.dataConnection(id),
  });
  const test = useSettingsTest<DataConnectionTestResult, ConnectionValues>(
    form,
    '/api/v2/data-connections/test',
    toTestBody,
  );
  const tried = refusedTest(form.refusal) ?? test.result;
  return (
    <Page
      title={pages.newDataConnection}
      crumbs={[{ label: pages.dataConnections, href: to.dataConnections() }]}
    >
      <SubmitForm
        form={form}
        submit={words.create}
        busy={form.busy && !test.busy}
        discard={to.dataConnections()}
        actions={
          <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
          </Button>
        }
      >
        <ConnectionFields form={form} stored={{ password: false, client_key: false }} moved={false} />
        {tried && <TestResult engine={form.values.engine} result={tried} />}
      </SubmitForm>
    </Page>
  );
};
