import { useNavigate } from '@tanstack/react-router';
import { request, useForm, useInvalidate, usePermission } from '../../api/index.ts';
import type { ToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Button, ButtonLink, Form, notify, Page, Problem, permissionReason } from '../../ui/index.ts';
import { nothingStored, ToolServerFields } from './ToolServerFields.tsx';
import { noValues, toBody, withFieldNames } from './values.ts';

/** Connects a tool server. If it does not respond it is created all the same, and its page says why. */
export const NewToolServerPage = () => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const reason = permissionReason(usePermission('createToolServer'));
  const form = useForm(noValues, async (values) => {
    const { body } = await withFieldNames(
      request<ToolServer>('POST', '/api/v2/tool-servers', { body: toBody(values) }),
    );
    notify(words.created);
    await invalidate('/app/api/tool-servers', '/api/v2/tool-servers');
    await navigate({ to: to.toolServer(body.id) });
  });
  return (
    <Page title={pages.newToolServer} crumbs={[{ label: pages.toolServers, href: to.toolServers() }]}>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
              {words.create}
            </Button>
            <ButtonLink kind="quiet" href={to.toolServers()}>
              {common.discard}
            </ButtonLink>
          </>
        }
      >
        <ToolServerFields form={form} stored={nothingStored} disabledReason={reason} />
        {form.error && <Problem error={form.error} />}
      </Form>
    </Page>
  );
};
