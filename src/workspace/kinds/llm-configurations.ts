import { type LlmConfigurations, llmForm } from '../../llm-configurations/index.ts';
import { asRead } from '../bodies.ts';
import type { Kind } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

/** The model that every installation begins with (migrations/0030_llm_configurations.sql). */
const builtInId = '01980000-0000-7000-8000-000000000001';

export const llmKind = (llms: LlmConfigurations): Kind =>
  resourceKind({
    ...byFeature(llms),
    ...llmForm,
    kind: 'llm_configuration',
    key: 'llm_configurations',
    list: async (executor) =>
      (await llms.list(executor)).map(({ id, ...stored }) => ({
        id,
        values: asRead(llmForm.body, stored),
        builtIn: id === builtInId,
      })),
    // The settings of a kind follow in the order of its body.
    complete: (item, body) => ({ ...item, ...body }),
  });
