import { useMe } from '../../api/index.ts';
import type { AgentOverview } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { Time } from '../../time/index.ts';
import { Box, CodeBlock, Muted, OutcomeTag, Section, Words } from '../../ui/index.ts';
import { LoadedAgent } from './AgentForm.tsx';
import { CallbacksForm } from './CallbacksForm.tsx';
import css from './ConnectTab.module.css';

const toolAddress = (baseUrl: string, id: string): string =>
  `${baseUrl.replace(/\/api\/v2$/, '/api/v1')}/agents/${id}/mcp`;

const clientOf = (name: string, url: string): string =>
  JSON.stringify(
    { mcpServers: { [name]: { type: 'http', url, headers: { Authorization: 'Bearer $KEY' } } } },
    null,
    2,
  );

const variablesOf = (otlpUrl: string, id: string): string =>
  [
    `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${otlpUrl}`,
    'export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf',
    'export OTEL_EXPORTER_OTLP_TRACES_HEADERS="Authorization=Bearer%20$KEY"',
    `export OTEL_RESOURCE_ATTRIBUTES=gen_ai.agent.id=${id}`,
  ].join('\n');

/** Addresses for programs that call the agent or send traces in its name. */
export const ConnectTab = ({ agent: { id, name, mode, last_span_at } }: { agent: AgentOverview }) => {
  const me = useMe();
  const base = me.base_url ?? `${location.origin}/api/v2`;
  const otlp = me.otlp_url ?? `${base}/telemetry/v1/traces`;
  const url = toolAddress(base, id);
  const key =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'agent';
  return (
    <>
      <Section title={words.asTool} note={words.asToolText}>
        <Box padded>
          <div className={css.blocks}>
            <CodeBlock label={words.address} code={url} />
            <CodeBlock label={words.clientConfiguration} code={clientOf(key, url)} />
          </div>
        </Box>
      </Section>
      <Section title={words.sendTraces} note={words.sendTracesText}>
        <Box padded>
          <div className={css.blocks}>
            <CodeBlock label={words.variables} code={variablesOf(otlp, id)} />
            <p role="status">
              {last_span_at ? (
                <OutcomeTag kind="on-time">
                  <Words text={words.lastSpan} at={<Time at={last_span_at} form="relative" />} />
                </OutcomeTag>
              ) : (
                <Muted>{words.waitingForSpan}</Muted>
              )}
            </p>
          </div>
        </Box>
      </Section>
      {mode === 'worker' && (
        <LoadedAgent agentId={id}>{(agent, got) => <CallbacksForm agent={agent} got={got} />}</LoadedAgent>
      )}
    </>
  );
};
