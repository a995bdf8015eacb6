import { type Body, usePermission } from '../../api/index.ts';
import { FormFields, SubmitForm, useCreateForm, useSettingsTest } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, permissionReason } from '../../ui/index.ts';
import { connectionForm } from './form.ts';
import { refusedTest, TestResult } from './sentences.tsx';

/** Connects a database. It can be tested before; it is tested in any case, and not created if that fails. */
export const NewDataConnectionPage = () => {
  const mayTest = permissionReason(usePermission('testDataConnectionSettings'));
  const form = useCreateForm({
    operation: 'createDataConnection',
    params: {},
    ...connectionForm.create,
    disabledReason: permissionReason(usePermission('createDataConnection')),
    created: words.created,
    opens: ({ id }) => to('/data-connections/$dataConnectionId', { dataConnectionId: id }),
  });
  const test = useSettingsTest(form, 'testDataConnectionSettings', (values) => {
    const { engine, configuration } = connectionForm.create.toBody(values);
    return { engine, configuration } as Body<'testDataConnectionSettings'>;
  });
  const tried = refusedTest(form.refusal) ?? test.result;
  return (
    <Page
      title={pages.newDataConnection}
      crumbs={[{ label: pages.dataConnections, href: to('/data-connections') }]}
    >
      <SubmitForm
        form={form}
        submit={words.create}
        busy={form.busy && !test.busy}
        discard={to('/data-connections')}
        actions={
          <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
          </Button>
        }
      >
        <FormFields of={connectionForm} form={form} />
        {tried && <TestResult engine={form.values.engine} result={tried} />}
      </SubmitForm>
    </Page>
  );
};
