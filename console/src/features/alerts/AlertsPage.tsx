import { usePermission } from '../../api/index.ts';
import { PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { alerts as words } from '../../text/en/alerts.ts';
import { pages } from '../../text/en/pages.ts';
import { ButtonLink, NoPermission, Page, useDisabledReason } from '../../ui/index.ts';
import { AlertsTab } from './AlertsTab.tsx';
import { RulesTab } from './RulesTab.tsx';
import type { alertsSearch } from './search.ts';

const Rules = () => {
  const { allowed, role, requiredRole } = usePermission('listNamedAlertRules');
  return allowed ? <RulesTab /> : <NoPermission role={role} requiredRole={requiredRole} />;
};

export const AlertsPage = () => {
  const { tab } = useUrlState<ReturnType<typeof alertsSearch>>().search;
  return (
    <Page
      title={pages.alerts}
      lead={words.lead}
      actions={
        <ButtonLink
          kind={tab === 'rules' ? 'primary' : 'plain'}
          href={to('/alert-rules/new')}
          disabledReason={useDisabledReason('createAlertRule')}
        >
          {words.newRule}
        </ButtonLink>
      }
    >
      <PageTabs
        label={pages.alerts}
        words={words.tabs}
        tabs={{
          firing: () => <AlertsTab key="firing" state="firing" />,
          history: () => <AlertsTab key="history" state="resolved" />,
          rules: () => <Rules />,
        }}
      />
    </Page>
  );
};
