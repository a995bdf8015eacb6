import { type Body, usePermission } from '../../api/index.ts';
import { FormFields, SubmitForm, useCreateForm, useSettingsTest } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { eventConnections as words } from '../../text/en/event-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, permissionReason } from '../../ui/index.ts';
import { ConnectionTestResult } from './ConnectionTestResult.tsx';
import { connectionForm } from './form.ts';

/** Connects a broker. It need not respond yet; it can be tested before. */
export const NewEventConnectionPage = () => {
  const mayTest = permissionReason(usePermission('testEventConnectionSettings'));
  const form = useCreateForm({
    operation: 'createEventConnection',
    params: {},
    ...connectionForm.create,
    disabledReason: permissionReason(usePermission('createEventConnection')),
    created: words.created,
    opens: ({ id }) => to('/event-connections/$eventConnectionId', { eventConnectionId: id }),
  });
  const test = useSettingsTest(form, 'testEventConnectionSettings', (values) => {
    const { kind, settings } = connectionForm.create.toBody(values);
    return { kind, settings } as Body<'testEventConnectionSettings'>;
  });
  return (
    <Page
      title={pages.newEventConnection}
      crumbs={[{ label: pages.eventConnections, href: to('/event-connections') }]}
    >
      <SubmitForm
        form={form}
        submit={words.create}
        busy={form.busy && !test.busy}
        discard={to('/event-connections')}
        actions={
          <Button busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
          </Button>
        }
      >
        <FormFields of={connectionForm} form={form} />
        {test.result && <ConnectionTestResult result={test.result} />}
      </SubmitForm>
    </Page>
  );
};
