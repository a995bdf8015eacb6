import { usePermission } from '../../api/index.ts';
import type { ToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Page, permissionReason } from '../../ui/index.ts';
import { nothingStored, ToolServerFields } from './ToolServerFields.tsx';
import { fieldOf, noValues, type ToolServerValues, toBody } from './values.ts';

/** Connects a tool server. One that does not respond is created too, and its page says why. */
export const NewToolServerPage = () => {
  const form = useCreateForm<ToolServer, ToolServerValues>({
    first: noValues,
    post: '/api/v2/tool-servers',
    toBody,
    fieldOf,
    disabledReason: permissionReason(usePermission('createToolServer')),
    invalidates: ['/app/api/tool-servers', '/api/v2/tool-servers'],
    created: words.created,
    opens: ({ id }) => to.toolServer(id),
  });
  return (
    <Page title={pages.newToolServer} crumbs={[{ label: pages.toolServers, href: to.toolServers() }]}>
      <SubmitForm form={form} submit={words.create} discard={to.toolServers()}>
        <ToolServerFields form={form} stored={nothingStored} />
      </SubmitForm>
    </Page>
  );
};
