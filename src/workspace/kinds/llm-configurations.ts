import { z } from 'zod';
import {
  createLlmBody,
  type LlmConfigurations,
  llmDefaults,
  llmSecrets,
  updateLlmBody,
} from '../../llm-configurations/index.ts';
import { required } from '../../resource/index.ts';
import { asRead } from '../bodies.ts';
import type { Kind } from '../kind.ts';
import { byRules, resourceKind } from '../resource-kind.ts';
import { secretsAt } from '../secrets.ts';

/** The model that every installation begins with (migrations/0030_llm_configurations.sql). */
const builtInId = '01980000-0000-7000-8000-000000000001';

export const llmKind = ({ rules }: LlmConfigurations): Kind =>
  resourceKind({
    ...byRules(rules),
    kind: 'llm_configuration',
    key: 'llm_configurations',
    fields: {
      name: required(z.string()),
      kind: required(z.string()).fixed(),
      model: required(z.string()),
    },
    body: createLlmBody,
    patch: updateLlmBody,
    defaults: llmDefaults,
    secrets: secretsAt(...llmSecrets),
    list: async (executor) =>
      (await rules.list(executor)).map(({ id, ...stored }) => ({
        id,
        values: asRead(createLlmBody, stored),
        builtIn: id === builtInId,
      })),
    complete: (item, body) => ({ ...item, ...body }),
    address: ({ base_url, region }) => [base_url, region],
  });
