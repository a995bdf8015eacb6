import { isKeyValue } from '../../access/index.ts';
import { agentCalls } from '../../agents/index.ts';
import { type DataConnections, dataConnectionForm } from '../../data-connections/index.ts';
import type { Executor } from '../../database/index.ts';
import { isObject } from '../../lib/objects.ts';
import { Redactor } from '../../lib/redactor.ts';
import { type LlmConfigurations, llmForm } from '../../llm-configurations/index.ts';
import type { SemanticDataModels } from '../../semantic-data-models/index.ts';
import { type ToolServers, toolServerForm } from '../../tool-servers/index.ts';

/** Modules that hold secrets that an agent uses. */
export interface SecretOwners {
  llms: Pick<LlmConfigurations, 'list' | 'findDefault'>;
  toolServers: Pick<ToolServers, 'list'>;
  dataConnections: Pick<DataConnections, 'list'>;
  semanticDataModels: Pick<SemanticDataModels, 'list'>;
}

/** Shorter values are in many texts that are no secrets. */
const shortest = 8;

const placeholder = '[redacted]';

/** The texts at a path of `value`; `*` stands for any key. */
const textsAt = (value: unknown, [key, ...rest]: readonly string[]): string[] => {
  if (key === undefined) return typeof value === 'string' ? [value] : [];
  if (!isObject(value)) return [];
  const inside = key === '*' ? Object.values(value) : [value[key]];
  return inside.flatMap((one) => textsAt(one, rest));
};

const secretsOf = (patterns: readonly string[] | undefined, items: readonly object[]): string[] =>
  (patterns ?? []).flatMap((pattern) => items.flatMap((item) => textsAt(item, pattern.split('.'))));

/** The ids of what a version of an agent uses; null for all that there is, if the agent is gone. */
const usedBy = async (executor: Executor, { llms, semanticDataModels }: SecretOwners, agents: Agents) => {
  if (agents.length === 0) return null;
  const models = new Set(agents.flatMap(({ semantic_data_model_ids }) => semantic_data_model_ids));
  const known = models.size === 0 ? [] : await semanticDataModels.list(executor);
  const defaultLlm = (await llms.findDefault(executor)).id;
  return {
    llms: new Set(
      agents.flatMap(({ llm_id, fallback_llm_ids }) => [llm_id ?? defaultLlm, ...fallback_llm_ids]),
    ),
    toolServers: new Set(agents.flatMap(({ tool_server_ids }) => tool_server_ids)),
    dataConnections: new Set(
      known.filter(({ id }) => models.has(id)).map(({ data_connection_id }) => data_connection_id),
    ),
  };
};
type Agents = NonNullable<Awaited<ReturnType<typeof agentCalls.findPinned>>[number]>[];

/** Replaces what is secret in what a run left. */
export interface Redaction {
  text(text: string): string;
  value<T>(value: T): T;
}

/**
 * The redaction of a run of this version of an agent: the secrets of its LLM configurations, tool servers and data
 * connections, by that version and by the one that is published now, and API keys of the platform. A secret that was
 * replaced since is not known any more.
 */
export const redactionOf = async (
  executor: Executor,
  owners: SecretOwners,
  agent: { id: string; version: number | null },
): Promise<Redaction> => {
  const found = await agentCalls.findPinned(executor, [agent, { id: agent.id, version: null }]);
  const used = await usedBy(
    executor,
    owners,
    found.filter((one) => one !== undefined),
  );
  const of = <T extends { id: string }>(list: readonly T[], ids: ReadonlySet<string> | undefined): T[] =>
    list.filter(({ id }) => !ids || ids.has(id));
  const secrets = [
    ...secretsOf(llmForm.secrets, of(await owners.llms.list(executor), used?.llms)),
    ...secretsOf(toolServerForm.secrets, of(await owners.toolServers.list(executor), used?.toolServers)),
    ...secretsOf(
      dataConnectionForm.secrets,
      of(await owners.dataConnections.list(executor), used?.dataConnections),
    ),
  ].filter((secret) => secret.length >= shortest);
  const redactor = new Redactor(secrets);
  const text = (given: string): string =>
    redactor
      .text(given)
      .replaceAll(/ap_[0-9A-Za-z]{49}/g, (value) => (isKeyValue(value) ? placeholder : value));
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (!isObject(given)) return given;
    return Object.fromEntries(Object.entries(given).map(([key, field]) => [text(key), value(field)]));
  };
  return { text, value: <T>(given: T): T => value(given) as T };
};
