import { useParams } from '@tanstack/react-router';
import { listPolling, perform, useAction, useOperation, usePermission } from '../../api/index.ts';
import { DetailPage, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, notify, permissionReason, TestSteps } from '../../ui/index.ts';
import { DeadLettersTab } from './DeadLettersTab.tsx';
import { HealthTab } from './HealthTab.tsx';
import { ScopesTab } from './ScopesTab.tsx';
import { SettingsTab } from './SettingsTab.tsx';
import { StateSentence, titleOf } from './sentences.tsx';

export const IntegrationPage = () => {
  const { integrationId } = useParams({ from: '/shell/integrations/$integrationId' });
  const params = { integration_id: integrationId };
  const got = useOperation('getIntegration', params, { every: listPolling(true) });
  const toggle = useAction(async (is_enabled: boolean) => {
    await perform('switchIntegration', params, { body: { is_enabled }, ifMatch: null });
    notify(is_enabled ? words.turnedOn : words.turnedOff);
  });
  const maySwitch = permissionReason(usePermission('switchIntegration'));
  return (
    <DetailPage
      got={got}
      operation="getIntegration"
      kind={pages.integration}
      name={titleOf}
      list={{ label: pages.integrations, href: to('/integrations') }}
      id={integrationId}
      lead={(integration) => <StateSentence integration={integration} />}
      removal={{
        operation: 'deleteObservabilityIntegration',
        params,
        words,
        nameless: true,
        text: ({ health }) => <p>{words.deleteText(health.queued)}</p>,
      }}
      actions={({ settings: { is_enabled } }) => (
        <Button busy={toggle.busy} disabledReason={maySwitch} onClick={() => void toggle.run(!is_enabled)}>
          {is_enabled ? words.turnOff : words.turnOn}
        </Button>
      )}
      test={{
        operation: 'testIntegration',
        params,
        label: words.test,
        show: (result) => <TestSteps words={words} result={result} />,
      }}
      problem={toggle.error}
    >
      {(integration) => (
        <PageTabs
          label={pages.integration}
          words={words.tabs}
          counts={{ 'dead-letters': integration.health.dead_lettered }}
          tabs={{
            health: () => <HealthTab integration={integration} />,
            settings: () => <SettingsTab integration={integration} etag={got.etag} />,
            scopes: () => <ScopesTab integration={integration} />,
            'dead-letters': () => <DeadLettersTab integration={integration} />,
          }}
        />
      )}
    </DetailPage>
  );
};
