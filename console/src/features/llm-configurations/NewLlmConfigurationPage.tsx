import { usePermission } from '../../api/index.ts';
import { FormFields, SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import { Page, permissionReason } from '../../ui/index.ts';
import { llmForm } from './form.ts';

/** Connects a language model. It is tested on its page, where it leads to. */
export const NewLlmConfigurationPage = () => {
  const form = useCreateForm({
    operation: 'createLlmConfiguration',
    params: {},
    ...llmForm.create,
    disabledReason: permissionReason(usePermission('createLlmConfiguration')),
    created: words.created,
    opens: ({ id }) => to('/llm-configurations/$llmId', { llmId: id }),
  });
  return (
    <Page
      title={pages.newLlmConfiguration}
      crumbs={[{ label: pages.llmConfigurations, href: to('/llm-configurations') }]}
    >
      <SubmitForm form={form} submit={words.create} discard={to('/llm-configurations')}>
        <FormFields of={llmForm} form={form} />
      </SubmitForm>
    </Page>
  );
};
