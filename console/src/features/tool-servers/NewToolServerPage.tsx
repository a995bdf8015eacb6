import { usePermission } from '../../api/index.ts';
import { FormFields, SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Page, permissionReason } from '../../ui/index.ts';
import { toolServerForm } from './form.ts';

/** Connects a tool server. One that does not respond is created too, and its page says why. */
export const NewToolServerPage = () => {
  const form = useCreateForm({
    operation: 'createToolServer',
    params: {},
    ...toolServerForm.create,
    disabledReason: permissionReason(usePermission('createToolServer')),
    created: words.created,
    opens: ({ id }) => to('/tool-servers/$toolServerId', { toolServerId: id }),
  });
  return (
    <Page title={pages.newToolServer} crumbs={[{ label: pages.toolServers, href: to('/tool-servers') }]}>
      <SubmitForm form={form} submit={words.create} discard={to('/tool-servers')}>
        <FormFields of={toolServerForm} form={form} />
      </SubmitForm>
    </Page>
  );
};
