import { ApiProblem } from '../../api/index.ts';
import type { CreateAgentBody, PublicAgent } from '../../api/types.gen.ts';
import { readObject } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';

export interface AgentValues {
  name: string;
  description: string;
  mode: PublicAgent['mode'];
  instructions: string;
  llm_id: string | null;
  model: string;
  fallback_llm_ids: string[];
  execution: PublicAgent['execution'];
  /** JSON, or empty. */
  result_schema: string;
  max_concurrency: number | null;
  max_attempts: number | null;
  timeout_seconds: number | null;
  max_steps: number | null;
  max_tokens: number | null;
  max_output_tokens: number | null;
  tool_concurrency: number | null;
}

export const settingNames = [
  'max_concurrency',
  'max_attempts',
  'timeout_seconds',
  'max_steps',
  'max_tokens',
  'max_output_tokens',
  'tool_concurrency',
] as const satisfies readonly (keyof AgentValues)[];

type SettingName = (typeof settingNames)[number];

const mayBeEmpty: readonly string[] = ['max_tokens', 'max_output_tokens'];

/** The meaning of an empty setting. */
export const emptyMeans = (name: SettingName): string =>
  (words.emptyMeans as Partial<Record<SettingName, string>>)[name] ?? '';

export const hintOf = (name: SettingName): string =>
  mayBeEmpty.includes(name) ? words.hintWithEmpty(words.hints[name], emptyMeans(name)) : words.hints[name];

export const toValues = ({ settings, ...agent }: PublicAgent): AgentValues => ({
  name: agent.name,
  description: agent.description ?? '',
  mode: agent.mode,
  instructions: agent.instructions,
  llm_id: agent.llm_id,
  model: agent.model ?? '',
  fallback_llm_ids: agent.fallback_llm_ids,
  execution: agent.execution,
  result_schema: agent.result_schema === null ? '' : JSON.stringify(agent.result_schema, null, 2),
  ...settings,
});

/** Reads the schema of the form. Throws the fault of its field if it is no JSON object. */
const readSchema = (text: string): Record<string, unknown> | null => {
  if (text.trim() === '') return null;
  const schema = readObject(text);
  if (schema) return schema;
  throw new ApiProblem(422, { details: [{ path: 'result_schema', message: words.schemaNotObject }] });
};

const workerFields = ({ mode, execution, result_schema }: AgentValues) =>
  mode === 'worker' ? { execution, result_schema: readSchema(result_schema) } : {};

/** The body of a change: what the form has, with texts that are empty as null. */
export const toBody = (values: AgentValues) => ({
  name: values.name,
  description: values.description || null,
  instructions: values.instructions,
  llm_id: values.llm_id,
  model: values.model || null,
  fallback_llm_ids: values.fallback_llm_ids,
  ...workerFields(values),
  settings: Object.fromEntries(
    settingNames
      .filter((name) => values[name] !== null || mayBeEmpty.includes(name))
      .map((name) => [name, values[name]]),
  ) as NonNullable<CreateAgentBody['settings']>,
});
