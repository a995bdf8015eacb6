import type { Tool } from '../../api/types.gen.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';

const kinds: Readonly<Record<string, string>> = words.kinds;

export const ModelWarnings = ({ tool }: { tool: Tool }) =>
  tool.model_warnings.map(({ kind, message }) => (
    <p key={kind}>
      <b>{kinds[kind] ?? kind}</b> {message}
    </p>
  ));
