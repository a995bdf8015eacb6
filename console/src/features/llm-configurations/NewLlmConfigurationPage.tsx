import { useNavigate } from '@tanstack/react-router';
import { request, useForm, useInvalidate, usePermission } from '../../api/index.ts';
import type { LlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Form, notify, Page, Problem, permissionReason } from '../../ui/index.ts';
import { LlmFields, nothingStored } from './LlmFields.tsx';
import { noValues, toBody } from './values.ts';

/** Connects a language model. It is tested on its page, where it leads to. */
export const NewLlmConfigurationPage = () => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const reason = permissionReason(usePermission('createLlmConfiguration'));
  const form = useForm(noValues, async (values) => {
    const { body } = await request<LlmConfiguration>('POST', '/api/v2/llm-configurations', {
      body: toBody(values),
    });
    notify(words.created);
    await invalidate('/app/api/llm-configurations', '/api/v2/llm-configurations');
    await navigate({ to: to.llmConfiguration(body.id) });
  });
  return (
    <Page
      title={pages.newLlmConfiguration}
      crumbs={[{ label: pages.llmConfigurations, href: to.llmConfigurations() }]}
    >
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
              {words.create}
            </Button>
            <ButtonLink kind="quiet" href={to.llmConfigurations()}>
              {common.discard}
            </ButtonLink>
          </>
        }
      >
        <LlmFields form={form} stored={nothingStored} disabledReason={reason} />
        {form.error && <Problem error={form.error} />}
      </Form>
    </Page>
  );
};
