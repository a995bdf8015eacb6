import { usePermission } from '../../api/index.ts';
import type { LlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import { Page, permissionReason } from '../../ui/index.ts';
import { LlmFields, nothingStored } from './LlmFields.tsx';
import { type LlmValues, noValues, toBody } from './values.ts';

/** Connects a language model. It is tested on its page, where it leads to. */
export const NewLlmConfigurationPage = () => {
  const form = useCreateForm<LlmConfiguration, LlmValues>({
    first: noValues,
    post: '/api/v2/llm-configurations',
    toBody,
    disabledReason: permissionReason(usePermission('createLlmConfiguration')),
    invalidates: ['/app/api/llm-configurations', '/api/v2/llm-configurations'],
    created: words.created,
    opens: ({ id }) => to.llmConfiguration(id),
  });
  return (
    <Page
      title={pages.newLlmConfiguration}
      crumbs={[{ label: pages.llmConfigurations, href: to.llmConfigurations() }]}
    >
      <SubmitForm form={form} submit={words.create} discard={to.llmConfigurations()}>
        <LlmFields form={form} stored={nothingStored} />
      </SubmitForm>
    </Page>
  );
};
