import { z } from 'zod';
import {
  createLlmBody,
  type LlmConfigurations,
  llmDefaults,
  updateLlmBody,
} from '../../llm-configurations/index.ts';
import { required } from '../../resource/index.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Item, Kind } from './kind.ts';
import { asRead } from './read.ts';
import { resourceKind } from './resource-kind.ts';

/** The model that every installation begins with (migrations/0030_llm_configurations.sql). */
const builtInId = '01980000-0000-7000-8000-000000000001';

const placeholder = 'a-secret-that-is-not-known-yet';

/** In this order. The settings of a kind follow in that of its body. */
const inOrder = ({ name, kind, model, ...settings }: Item): Item => ({
  name,
  kind,
  model,
  ...withoutEmptyMaps(settings),
});

export const llmKind = ({ rules }: LlmConfigurations): Kind =>
  resourceKind({
    kind: 'llm_configuration',
    key: 'llm_configurations',
    fields: { name: required(z.string()) },
    body: createLlmBody,
    patch: updateLlmBody,
    defaults: llmDefaults,
    secrets: {
      api_key: placeholder,
      secret_access_key: placeholder,
      session_token: placeholder,
      'headers.*': placeholder,
    },
    list: async (executor) =>
      (await rules.list(executor)).map(({ row: { id, name, model }, settings }) => ({
        id,
        name,
        item: inOrder(asRead(createLlmBody, { name, model, ...settings })),
        builtIn: id === builtInId,
      })),
    complete: (_item, body) => inOrder({ ...body }),
    address: ({ base_url, region }) => [base_url, region],
    create: ({ tx, actor }, body) => rules.create(tx, actor, body),
    update: ({ tx, actor }, id, changes) => rules.update(tx, actor, id, changes),
    remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
  });
