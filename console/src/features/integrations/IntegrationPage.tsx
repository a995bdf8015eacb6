import { useParams } from '@tanstack/react-router';
import {
  listPolling,
  path,
  request,
  useAction,
  useGet,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { ObservabilityTestResult, ShownIntegration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteButton, DetailPage, PageTabs } from '../../resource/index.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, notify, Problem, permissionReason } from '../../ui/index.ts';
import { DeadLettersTab } from './DeadLettersTab.tsx';
import { HealthTab } from './HealthTab.tsx';
import { ScopesTab } from './ScopesTab.tsx';
import { SettingsTab } from './SettingsTab.tsx';
import { StateSentence, titleOf } from './sentences.tsx';
import { TestResult } from './TestResult.tsx';

/** One tracing backend: how it is, its settings, for whom, and what it refused. */
export const IntegrationPage = () => {
  const { integrationId = '' } = useParams({ strict: false }) as { integrationId?: string };
  const invalidate = useInvalidate();
  const address = path`/app/api/integrations/${integrationId}`;
  const got = useGet<ShownIntegration>(address, { every: listPolling(true) });
  const test = useAction(async () => {
    const { body } = await request<ObservabilityTestResult>('POST', `${address}/test`);
    await invalidate('/app/api/integrations');
    return body;
  });
  const toggle = useAction(async (is_enabled: boolean) => {
    await request('PATCH', address, { body: { is_enabled } });
    notify(is_enabled ? words.turnedOn : words.turnedOff);
    await invalidate('/app/api/integrations');
  });
  const mayTest = permissionReason(usePermission('testIntegration'));
  const maySwitch = permissionReason(usePermission('switchIntegration'));
  const mayDelete = permissionReason(usePermission('deleteObservabilityIntegration'));
  const problem = test.error ?? toggle.error;
  return (
    <DetailPage
      got={got}
      operation="getIntegration"
      kind={pages.integration}
      name={titleOf}
      list={{ label: pages.integrations, href: to.integrations() }}
      id={integrationId}
      lead={(integration) => <StateSentence integration={integration} />}
      actions={({ settings: { is_enabled }, health }) => (
        <>
          <DeleteButton
            path={path`/api/v2/observability/integrations/${integrationId}`}
            etag={got.etag}
            title={words.deleteTitle}
            deleted={words.deleted}
            opens={to.integrations()}
            invalidates={['/app/api/integrations']}
            disabledReason={mayDelete}
          >
            <p>{words.deleteText(health.queued)}</p>
          </DeleteButton>
          <Button busy={toggle.busy} disabledReason={maySwitch} onClick={() => void toggle.run(!is_enabled)}>
            {is_enabled ? words.turnOff : words.turnOn}
          </Button>
          <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {words.test}
          </Button>
        </>
      )}
      above={
        <>
          {problem && <Problem error={problem} />}
          {test.result && <TestResult result={test.result} />}
        </>
      }
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
