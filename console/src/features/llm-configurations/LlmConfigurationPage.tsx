import { useParams } from '@tanstack/react-router';
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
import type { LlmTestResult, UsedLlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  Columns,
  Loaded,
  notify,
  Page,
  Problem,
  permissionReason,
  Quiet,
  Section,
  TestSteps,
} from '../../ui/index.ts';
import { DeleteLlmDialog } from './DeleteLlmDialog.tsx';
import { SettingsForm } from './SettingsForm.tsx';
import { UsedBy, usesOf } from './UsedBy.tsx';

const TestResult = ({ result: { ok, steps, latency_ms } }: { result: LlmTestResult }) => (
  <TestSteps
    label={words.testTitle}
    ok={ok}
    title={ok ? words.testOk : words.testFailed}
    steps={steps.map(({ step, ...result }) => ({ name: words.steps[step], ...result }))}
    note={<Quiet small>{words.testTook(latency_ms)}</Quiet>}
  />
);

/** The settings for those who may read them, and the agents that name the configuration. */
const Content = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const { used_by, is_default } = llm;
  const byDefault = is_default && used_by.by_default > 0 ? words.byDefault(used_by.by_default) : null;
  return (
    <Columns
      side={
        <Section title={words.usedBy} note={byDefault}>
          {used_by.total > 0 ? <UsedBy used_by={used_by} /> : <Quiet small>{words.noAgents}</Quiet>}
        </Section>
      }
    >
      <Section label={words.settings}>
        {llm.updated_at === undefined ? (
          <Quiet>{words.settingsHidden}</Quiet>
        ) : (
          <SettingsForm llm={llm} etag={etag} />
        )}
      </Section>
    </Columns>
  );
};

/** One language model: its settings, what a test finds, and the agents that use it. */
export const LlmConfigurationPage = () => {
  const { llmId = '' } = useParams({ strict: false }) as { llmId?: string };
  const invalidate = useInvalidate();
  const got = useGet<UsedLlmConfiguration>(path`/app/api/llm-configurations/${llmId}`, {
    every: listPolling(false),
  });
  const { data } = got;
  const mayTest = permissionReason(usePermission('testLlmConfiguration'));
  const mayChoose = permissionReason(usePermission('setLlmDefaults'));
  const mayDelete = permissionReason(usePermission('deleteLlmConfiguration'));
  const [deleting, setDeleting] = useState(false);
  const [result, setResult] = useState<LlmTestResult | null>(null);
  const test = useAction(async () => {
    setResult(null);
    const { body } = await request<LlmTestResult>('POST', path`/api/v2/llm-configurations/${llmId}/test`);
    setResult(body);
  });
  const choose = useAction(async (name: string) => {
    await request('PUT', '/api/v2/llm-configurations/defaults', { body: { llm_id: llmId } });
    notify(words.madeDefault(name));
    await invalidate('/app/api/');
  });
  const problem = test.error ?? choose.error;
  return (
    <Page
      title={data?.name ?? pages.llmConfiguration}
      crumbs={[{ label: pages.llmConfigurations, href: to.llmConfigurations() }]}
      lead={data && `${words.leadOf(words.kinds[data.kind], data.model)} ${usesOf(data)}`}
      actions={
        data && (
          <>
            <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
              {common.delete}
            </Button>
            {!data.is_default && (
              <Button
                busy={choose.busy}
                disabledReason={mayChoose}
                onClick={() => void choose.run(data.name)}
              >
                {words.makeDefault}
              </Button>
            )}
            <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
              {common.test}
            </Button>
          </>
        )
      }
    >
      {problem && <Problem error={problem} />}
      {result && <TestResult result={result} />}
      <Loaded
        got={got}
        operation="getUsedLlmConfiguration"
        list={{ label: pages.llmConfigurations, href: to.llmConfigurations() }}
        audit={to.audit({ target_id: llmId })}
      >
        {(llm) => <Content llm={llm} etag={got.etag} />}
      </Loaded>
      {data && deleting && <DeleteLlmDialog llm={data} etag={got.etag} onClose={() => setDeleting(false)} />}
    </Page>
  );
};
