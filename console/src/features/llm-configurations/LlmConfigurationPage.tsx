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
import type { LlmTestResult, UsedLlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteButton, DetailPage, UsedByAgents } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  Columns,
  notify,
  Problem,
  permissionReason,
  Quiet,
  Section,
  TestSteps,
} from '../../ui/index.ts';
import { SettingsForm } from './SettingsForm.tsx';

const TestResult = ({ result: { ok, steps, latency_ms } }: { result: LlmTestResult }) => (
  <TestSteps
    label={words.testTitle}
    ok={ok}
    title={ok ? words.testOk : words.testFailed}
    steps={steps.map(({ step, ...result }) => ({ name: words.steps[step], ...result }))}
    note={<Quiet small>{words.testTook(latency_ms)}</Quiet>}
  />
);

/** How many agents use it, and whether it is the default, as sentences. */
const usesOf = ({ is_default, used_by }: UsedLlmConfiguration): string => {
  const using = used_by.total + used_by.by_default;
  return [is_default && words.isDefault, using === 0 ? words.unused : words.uses(using)]
    .filter(Boolean)
    .join(' ');
};

/** The settings for those who may read them, and the agents that name the configuration. */
const Content = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const { used_by, is_default } = llm;
  const byDefault = is_default && used_by.by_default > 0 ? words.byDefault(used_by.by_default) : null;
  return (
    <Columns
      side={
        <Section title={words.usedBy} note={byDefault}>
          {used_by.total > 0 ? (
            <UsedByAgents used_by={used_by} tab="instructions" />
          ) : (
            <Quiet small>{words.unnamed}</Quiet>
          )}
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
  const address = path`/api/v2/llm-configurations/${llmId}`;
  const mayTest = permissionReason(usePermission('testLlmConfiguration'));
  const mayChoose = permissionReason(usePermission('setLlmDefaults'));
  const mayDelete = permissionReason(usePermission('deleteLlmConfiguration'));
  const test = useAction(async () => (await request<LlmTestResult>('POST', `${address}/test`)).body);
  const choose = useAction(async (name: string) => {
    await request('PUT', '/api/v2/llm-configurations/defaults', { body: { llm_id: llmId } });
    notify(words.madeDefault(name));
    await invalidate('/app/api/');
  });
  const problem = test.error ?? choose.error;
  return (
    <DetailPage
      got={got}
      operation="getUsedLlmConfiguration"
      kind={pages.llmConfiguration}
      name={({ name }) => name}
      list={{ label: pages.llmConfigurations, href: to.llmConfigurations() }}
      id={llmId}
      lead={(llm) => `${words.leadOf(words.kinds[llm.kind], llm.model)} ${usesOf(llm)}`}
      actions={({ name, is_default, used_by }) => (
        <>
          <DeleteButton
            path={address}
            etag={got.etag}
            title={words.deleteTitle}
            name={name}
            deleted={words.deleted}
            opens={to.llmConfigurations()}
            invalidates={['/app/api/llm-configurations', '/api/v2/llm-configurations']}
            disabledReason={mayDelete}
          >
            <p>{words.deleteText}</p>
            {is_default && <p>{words.deleteDefault}</p>}
            {used_by.total > 0 && (
              <>
                <p>{words.deleteUsed(used_by.total)}</p>
                <UsedByAgents used_by={used_by} tab="instructions" />
              </>
            )}
          </DeleteButton>
          {!is_default && (
            <Button busy={choose.busy} disabledReason={mayChoose} onClick={() => void choose.run(name)}>
              {words.makeDefault}
            </Button>
          )}
          <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
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
      {(llm) => <Content llm={llm} etag={got.etag} />}
    </DetailPage>
  );
};
