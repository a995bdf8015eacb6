import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
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
import { useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  ActionDialog,
  Button,
  Loaded,
  notify,
  Page,
  Problem,
  permissionReason,
  Tabs,
} from '../../ui/index.ts';
import { DeadLettersTab } from './DeadLettersTab.tsx';
import { HealthTab } from './HealthTab.tsx';
import { ScopesTab } from './ScopesTab.tsx';
import { SettingsTab } from './SettingsTab.tsx';
import { type integrationSearch, integrationTabs } from './search.ts';
import { StateSentence, titleOf } from './sentences.tsx';
import { TestResult } from './TestResult.tsx';

/** Turn off or on, test, delete. */
const useIntegrationActions = (integration: ShownIntegration | undefined) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const id = integration?.id ?? '';
  const address = path`/app/api/integrations/${id}`;
  const changed = () => invalidate('/app/api/integrations');
  return {
    test: useAction(async () => {
      const { body } = await request<ObservabilityTestResult>('POST', `${address}/test`);
      await changed();
      return body;
    }),
    toggle: useAction(async () => {
      const is_enabled = !integration!.settings.is_enabled;
      await request('PATCH', address, { body: { is_enabled } });
      notify(is_enabled ? words.turnedOn : words.turnedOff);
      await changed();
    }),
    remove: useAction(async () => {
      await request('DELETE', path`/api/v2/observability/integrations/${id}`);
      notify(words.deleted);
      await navigate({ to: to.integrations() });
      await changed();
    }),
  };
};

const Content = ({
  integration,
  tab,
  etag,
}: {
  integration: ShownIntegration;
  tab: (typeof integrationTabs)[number];
  etag: string | null;
}) => {
  switch (tab) {
    case 'health':
      return <HealthTab integration={integration} />;
    case 'settings':
      return <SettingsTab integration={integration} etag={etag} />;
    case 'scopes':
      return <ScopesTab integration={integration} />;
    case 'dead-letters':
      return <DeadLettersTab integration={integration} />;
  }
};

const labels = {
  health: words.tabs.health,
  settings: words.tabs.settings,
  scopes: words.tabs.scopes,
  'dead-letters': words.tabs.deadLetters,
};

/** One tracing backend: how it is, its settings, for whom, and what it refused. */
export const IntegrationPage = () => {
  const { integrationId = '' } = useParams({ strict: false }) as { integrationId?: string };
  const { search, href } = useUrlState<ReturnType<typeof integrationSearch>>();
  const tab = search.tab ?? 'health';
  const got = useGet<ShownIntegration>(path`/app/api/integrations/${integrationId}`, {
    every: listPolling(true),
  });
  const { data } = got;
  const { test, toggle, remove } = useIntegrationActions(data);
  const [result, setResult] = useState<ObservabilityTestResult | null>(null);
  const [deleting, setDeleting] = useState(false);
  const mayTest = permissionReason(usePermission('testIntegration'));
  const maySwitch = permissionReason(usePermission('switchIntegration'));
  const mayDelete = permissionReason(usePermission('deleteObservabilityIntegration'));
  const problem = test.error ?? toggle.error;
  return (
    <Page
      title={data ? titleOf(data) : pages.integration}
      crumbs={[{ label: pages.integrations, href: to.integrations() }]}
      lead={data && <StateSentence integration={data} />}
      actions={
        data && (
          <>
            <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
              {common.delete}
            </Button>
            <Button busy={toggle.busy} disabledReason={maySwitch} onClick={() => void toggle.run()}>
              {data.settings.is_enabled ? words.turnOff : words.turnOn}
            </Button>
            <Button
              kind="primary"
              busy={test.busy}
              disabledReason={mayTest}
              onClick={() => void test.run().then((body) => body && setResult(body))}
            >
              {words.test}
            </Button>
          </>
        )
      }
    >
      {problem && <Problem error={problem} />}
      {result && <TestResult result={result} />}
      <Loaded
        got={got}
        operation="getIntegration"
        list={{ label: pages.integrations, href: to.integrations() }}
      >
        {(integration) => (
          <Tabs
            label={pages.integration}
            value={tab}
            tabs={integrationTabs.map((value) => ({
              value,
              label: labels[value],
              href: href({ tab: value === 'health' ? undefined : value }),
              count:
                value === 'dead-letters' && integration.health.dead_lettered > 0
                  ? integration.health.dead_lettered
                  : undefined,
            }))}
          >
            <Content integration={integration} tab={tab} etag={got.etag} />
          </Tabs>
        )}
      </Loaded>
      <ActionDialog
        open={deleting}
        onClose={() => setDeleting(false)}
        title={words.deleteTitle}
        kind="danger"
        onConfirm={() => void remove.run()}
        busy={remove.busy}
        error={remove.error}
      >
        <p>{words.deleteText(data?.health.queued ?? 0)}</p>
      </ActionDialog>
    </Page>
  );
};
