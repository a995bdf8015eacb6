import { FormFields, SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { pages } from '../../text/en/pages.ts';
import { Page, useDisabledReason } from '../../ui/index.ts';
import { alertRuleForm } from './form.tsx';

const rules = () => to('/alerts', {}, { tab: 'rules' });

export const NewAlertRulePage = () => {
  const form = useCreateForm({
    operation: 'createAlertRule',
    params: {},
    ...alertRuleForm.create,
    disabledReason: useDisabledReason('createAlertRule'),
    created: words.created,
    opens: ({ id }) => to('/alert-rules/$alertRuleId', { alertRuleId: id }),
  });
  return (
    <Page title={pages.newAlertRule} crumbs={[{ label: pages.alerts, href: rules() }]}>
      <SubmitForm form={form} submit={words.create} discard={rules()}>
        <FormFields of={alertRuleForm} form={form} />
      </SubmitForm>
    </Page>
  );
};
