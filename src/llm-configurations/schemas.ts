import { z } from 'zod';
import { headerMap, id, optional, pageOf, text, timestamp } from '../http/index.ts';
import { supportedKinds } from './store.ts';

/** Kinds that the product knows. Those that are not supported are refused with a message of their own. */
const knownKinds = ['openai_compatible', 'openai', 'anthropic', 'azure', 'google', 'bedrock', 'mock'];

const kindFault = (given: unknown): string => {
  const now = `supported now: ${supportedKinds.join(', ')}`;
  return knownKinds.includes(given as string)
    ? `the kind ${given} is not supported by this version; ${now}`
    : `is not a kind of LLM configuration; ${now}`;
};

/** The endpoint without `/chat/completions`: http or https, without credentials, query or fragment. */
const baseUrl = text(2_000, 1)
  .superRefine((value, context) => {
    const fault = (message: string) => context.addIssue({ code: 'custom', message });
    const url = URL.parse(value);
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      fault('must be an http or https url, such as https://models.example.com/v1');
    } else if (url.username !== '' || url.password !== '') {
      fault('must not contain credentials: use api_key or headers');
    } else if (/[?#]/.test(value)) fault('must not have a query or fragment');
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: 2_000 } });

const apiKey = text(10_000, 1).refine((value) => /^[\x21-\x7e]+$/.test(value), {
  message: 'must consist of visible ASCII characters',
});

/** The model client sets the listed headers itself. */
const headers = headerMap(['accept-encoding', 'user-agent']);

const name = text(200, 1);
const model = text(500, 1).describe('The name of the model, as its endpoint knows it.');

export const createBody = z
  .discriminatedUnion(
    'kind',
    [
      z
        .object({
          kind: z.literal('openai_compatible'),
          name,
          model,
          base_url: baseUrl.describe('The address without `/chat/completions`. It often ends in `/v1`.'),
          api_key: optional(apiKey).describe('Sent as a bearer token. Never returned.'),
          headers: optional(headers).describe('Additional headers. Their values are never returned.'),
        })
        .meta({ id: 'CreateOpenAiCompatibleLlm' }),
      z
        .object({
          kind: z.literal('mock'),
          name,
          model: optional(model, 'mock'),
        })
        .meta({ id: 'CreateMockLlm' }),
    ],
    { error: (issue) => kindFault((issue.input as { kind?: unknown } | undefined)?.kind) },
  )
  .meta({ id: 'CreateLlmConfigurationBody' });

export const updateBody = z
  .object({
    kind: z.string().optional().describe('Cannot be changed: create another configuration instead.'),
    name: name.optional(),
    model: model.optional(),
    base_url: baseUrl.optional().describe('Not for a mock.'),
    api_key: apiKey.nullable().optional().describe('null removes it. Never returned.'),
    headers: headers.nullable().optional().describe('Replaces all headers; null removes them.'),
  })
  .meta({ id: 'UpdateLlmConfigurationBody' });

export const llmConfiguration = z
  .object({
    id,
    name: z.string(),
    kind: z.enum(supportedKinds),
    model: z.string(),
    base_url: z.string().nullable().optional().describe('Admins only.'),
    api_key_set: z.boolean().optional().describe('Whether there is an API key. Admins only.'),
    header_names: z.array(z.string()).optional().describe('The names of the headers. Admins only.'),
    created_at: timestamp.optional().describe('Admins only.'),
    updated_at: timestamp.optional().describe('Admins only.'),
  })
  .meta({ id: 'LlmConfiguration' });

export const llmPage = pageOf('LlmConfigurationPage', llmConfiguration);

export const llmTest = z
  .object({
    ok: z.boolean(),
    detail: z.string(),
    latency_ms: z.int().describe('The duration of the test, in milliseconds.'),
  })
  .meta({ id: 'LlmTestResult' });

export const defaultsBody = z.object({ llm_id: id }).meta({ id: 'SetLlmDefaultsBody' });
export const llmDefaults = z
  .object({ llm_id: id.describe('The configuration that agents without `llm_id` use.') })
  .meta({ id: 'LlmDefaults' });
