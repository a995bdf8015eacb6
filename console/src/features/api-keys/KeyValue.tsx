import { useMe } from '../../api/index.ts';
import type { CreatedApiKey } from '../../api/types.gen.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { common } from '../../text/en/common.ts';
import { Callout, CodeBlock, CopyButton, curlOf, Dialog, Section, TextField } from '../../ui/index.ts';

const telemetryOf = (otlpUrl: string, value: string): string =>
  [
    `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${otlpUrl}`,
    'export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf',
    `export OTEL_EXPORTER_OTLP_TRACES_HEADERS="Authorization=Bearer%20${value}"`,
  ].join('\n');

/** The value of a key that was just made, which is shown this once. Only its button closes it. */
export const KeyValue = ({
  title,
  created,
  onClose,
}: {
  title: string;
  created: CreatedApiKey;
  onClose: () => void;
}) => {
  const { base_url = `${location.origin}/api/v2`, otlp_url = `${base_url}/telemetry/v1/traces` } = useMe();
  const { value } = created;
  return (
    <Dialog open wide onlyByButton onClose={onClose} title={title} closeLabel={common.done}>
      <Callout tone="look" title={words.shownOnce} />
      <TextField label={words.value} value={value} onChange={() => {}} mono />
      <CopyButton value={value} label={common.copyValue} kind="primary" />
      <Section title={words.baseUrl}>
        <CodeBlock label={words.baseUrl} code={base_url} />
      </Section>
      <Section title={words.tryIt}>
        <CodeBlock label={words.tryIt} code={curlOf(base_url, 'listAgents', {}, { key: value })} />
      </Section>
      <Section title={words.telemetry}>
        <CodeBlock label={words.telemetry} code={telemetryOf(otlp_url, value)} />
      </Section>
    </Dialog>
  );
};
