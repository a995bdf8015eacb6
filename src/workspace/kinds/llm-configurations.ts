import { createLlmBody, type LlmConfigurations, llmDefaults } from '../../llm-configurations/index.ts';
import { isSame } from '../diff.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Item, Kind } from './kind.ts';
import { asRead, changesOf, readBody } from './read.ts';

/** The model that every installation begins with (migrations/0030_llm_configurations.sql). */
const builtInId = '01980000-0000-7000-8000-000000000001';

const secretFields = ['api_key', 'secret_access_key', 'session_token', 'headers'];
const placeholder = 'a-secret-that-is-not-known-yet';

const address = ({ base_url, region }: Item) => [base_url, region];

export const llmKind = ({ rules }: LlmConfigurations): Kind => ({
  kind: 'llm_configuration',
  key: 'llm_configurations',
  secrets: {
    api_key: placeholder,
    secret_access_key: placeholder,
    session_token: placeholder,
    'headers.*': placeholder,
  },
  defaults: llmDefaults,
  nameOf: ({ name }) => String(name),
  list: async (executor) =>
    (await rules.list(executor)).map(({ row, settings }) => ({
      id: row.id,
      name: row.name,
      item: {
        name: row.name,
        kind: row.kind,
        ...withoutEmptyMaps(asRead(createLlmBody, { name: row.name, model: row.model, ...settings })),
      },
      builtIn: row.id === builtInId,
    })),
  read: (given) => {
    const { name, kind, model, ...settings } = readBody(createLlmBody, given);
    return { name, kind, model, ...withoutEmptyMaps(settings as Item) };
  },
  address,
  references: () => [],
  create: async ({ tx, actor }, item) => (await rules.create(tx, actor, item as never)).id,
  update: async ({ tx, actor }, found, item, changed) => {
    const again = isSame(address(found.item), address(item))
      ? []
      : secretFields.filter((field) => item[field] !== undefined);
    const { kind, ...changes } = changesOf(new Set([...changed, ...again]), item);
    await rules.update(tx, actor, found.id, kind === undefined ? changes : { ...changes, kind });
  },
  remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
});

/** Which model agents use that name none. */
export const defaultLlmKind = ({ rules }: LlmConfigurations): Kind => ({
  kind: 'default_llm',
  key: 'default_llm',
  single: true,
  secrets: {},
  defaults: {},
  nameOf: () => 'default_llm',
  list: async (executor) => {
    const { id, name } = await rules.findDefault(executor);
    return [{ id, name: 'default_llm', item: { default_llm: name } }];
  },
  toDocument: ({ default_llm }) => default_llm,
  read: (given) => given,
  references: ({ default_llm }) => [{ path: '', kind: 'llm_configuration', name: String(default_llm) }],
  create: async () => 'default_llm',
  update: (run, _found, { default_llm }) =>
    rules.setDefault(run.tx, run.actor, run.idOf('llm_configuration', String(default_llm))),
  remove: async () => {},
});
