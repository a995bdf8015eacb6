import { useParams } from '@tanstack/react-router';
import { listPolling, perform, useAction, useOperation, usePermission } from '../../api/index.ts';
import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { DetailPage, UsedByAgents } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Columns, Muted, notify, permissionReason, Section, TestSteps } from '../../ui/index.ts';
import { SettingsForm } from './SettingsForm.tsx';

const usesOf = ({ is_default, used_by }: UsedLlmConfiguration): string => {
  const using = used_by.total + used_by.by_default;
  return [is_default && words.isDefault, using === 0 ? words.unused : words.uses(using)]
    .filter(Boolean)
    .join(' ');
};

const Content = ({ llm, etag }: { llm: UsedLlmConfiguration; etag: string | null }) => {
  const { used_by, is_default } = llm;
  const byDefault = is_default && used_by.by_default > 0 ? words.byDefault(used_by.by_default) : null;
  return (
    <Columns
      side={
        <Section title={words.usedBy} note={byDefault}>
          <UsedByAgents used_by={used_by} tab="instructions" none={words.unnamed} />
        </Section>
      }
    >
      <Section label={words.settings}>
        {llm.updated_at === undefined ? (
          <Muted>{words.settingsHidden}</Muted>
        ) : (
          <SettingsForm llm={llm} etag={etag} />
        )}
      </Section>
    </Columns>
  );
};

export const LlmConfigurationPage = () => {
  const { llmId } = useParams({ from: '/shell/llm-configurations/$llmId' });
  const params = { llm_id: llmId };
  const got = useOperation('getUsedLlmConfiguration', params, { every: listPolling(false) });
  const mayChoose = permissionReason(usePermission('setLlmDefaults'));
  const choose = useAction(async (name: string) => {
    await perform('setLlmDefaults', {}, { body: params });
    notify(words.madeDefault(name));
  });
  return (
    <DetailPage
      got={got}
      operation="getUsedLlmConfiguration"
      kind={pages.llmConfiguration}
      name={({ name }) => name}
      list={{ label: pages.llmConfigurations, href: to('/llm-configurations') }}
      id={llmId}
      lead={(llm) => `${words.leadOf(words.kinds[llm.kind], llm.model)} ${usesOf(llm)}`}
      removal={{
        operation: 'deleteLlmConfiguration',
        params,
        words,
        text: ({ is_default, used_by }) => (
          <>
            <p>{words.deleteText}</p>
            {is_default && <p>{words.deleteDefault}</p>}
            <UsedByAgents used_by={used_by} tab="instructions" lead={words.deleteUsed(used_by.total)} />
          </>
        ),
      }}
      actions={({ name, is_default }) =>
        !is_default && (
          <Button busy={choose.busy} disabledReason={mayChoose} onClick={() => void choose.run(name)}>
            {words.makeDefault}
          </Button>
        )
      }
      test={{
        operation: 'testLlmConfiguration',
        params,
        show: (result) => (
          <TestSteps
            words={words}
            result={result}
            note={<Muted small>{words.testTook(result.latency_ms)}</Muted>}
          />
        ),
      }}
      problem={choose.error}
    >
      {(llm) => <Content llm={llm} etag={got.etag} />}
    </DetailPage>
  );
};
