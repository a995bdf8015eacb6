import { z } from 'zod';
import { headerMap, headerValue, optional, text } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { templateFault } from './urls.ts';

export const providers = [
  'hosted_dashboard',
  'llm_tracing',
  'otlp_basic_auth',
  'otlp_custom_headers',
] as const;
export type Provider = (typeof providers)[number];

const traceUiTypes = ['dashboard_ui', 'span_ui', 'unknown'] as const;

/** How to build trace links for a collector of any kind. */
interface TraceUi {
  trace_view_url?: string;
  trace_ui_type?: (typeof traceUiTypes)[number];
}

/** Provider settings (description, 2.2), without `is_enabled`, which all providers have. */
export type ProviderSettings =
  | {
      provider: 'hosted_dashboard';
      url: string;
      api_token: string;
      dashboard_instance_id: string;
      additional_headers?: Record<string, string>;
      stack_name?: string;
    }
  | { provider: 'llm_tracing'; url: string; project_name: string; api_key: string }
  | ({ provider: 'otlp_basic_auth'; url: string; username: string; password: string } & TraceUi)
  | ({ provider: 'otlp_custom_headers'; url: string; headers?: Record<string, string> } & TraceUi);

/** Provider settings in requests and responses. */
export type Settings = ProviderSettings & { is_enabled?: boolean };

const urlWithout = (faultOf: (url: string) => string | null) =>
  z.string().superRefine((url, context) => {
    const message = faultOf(url);
    if (message) context.addIssue({ code: 'custom', message });
  });

/** A part of Basic credentials: any text without control characters (RFC 7617, section 2). */
const credential = text(4_096, 1).regex(
  /^[^\u0000-\u001f\u007f-\u009f]*$/,
  'must not contain control characters',
);
const userId = credential.refine((value) => !value.includes(':'), 'must not contain a colon');

const stackName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/,
    'must be one part of a domain name: up to 63 letters, digits, - and _',
  );

const inputChecks = {
  url: urlWithout(templateFault).meta({
    openapi: { type: 'string', maxLength: 2048, examples: ['https://collector.example.com/v1/traces'] },
  }),
  credential,
  userId,
  headerValue,
  additionalHeaders: headerMap(['authorization']),
  headers: headerMap(),
  stackName,
  traceViewUrl: urlWithout(urlFault).meta({ openapi: { type: 'string', format: 'uri', maxLength: 2048 } }),
  traceUiType: z.enum(traceUiTypes),
  isEnabled: optional(z.boolean()),
};

const outputMap = z
  .custom<Record<string, string>>(() => true)
  .meta({ openapi: { type: 'object', additionalProperties: { type: 'string' } } });

/**
 * Checks of responses. They are weaker than those of requests, so that a stored value is still returned after rules
 * become stricter.
 */
const outputChecks: { [C in keyof typeof inputChecks]: z.ZodType } = {
  url: z.string(),
  credential: z.string(),
  userId: z.string(),
  headerValue: z.string(),
  additionalHeaders: outputMap,
  headers: outputMap,
  stackName: z.string(),
  traceViewUrl: z.string(),
  traceUiType: z.enum(traceUiTypes),
  isEnabled: z.boolean(),
};

/**
 * The schemas of the four providers, once for requests and once for responses. `name` makes the names of the schemas.
 */
const shapes = (
  check: { [C in keyof typeof inputChecks]: z.ZodType },
  maybe: (schema: z.ZodType) => z.ZodType,
  name: (shape: string) => string,
) => {
  const shared = {
    url: check.url.describe(`The full OTLP traces endpoint. \${NAME} stands for a permitted variable.`),
    is_enabled: check.isEnabled.describe('Whether telemetry is exported. Default true.'),
  };
  const traceUi = {
    trace_view_url: maybe(check.traceViewUrl).describe('The base address of the trace UI, for trace links.'),
    trace_ui_type: maybe(check.traceUiType),
  };
  return z
    .discriminatedUnion('provider', [
      z
        .object({
          provider: z.literal('hosted_dashboard'),
          ...shared,
          api_token: check.credential,
          dashboard_instance_id: check.userId,
          additional_headers: maybe(check.additionalHeaders).describe(
            'Additional HTTP headers of each export.',
          ),
          stack_name: maybe(check.stackName).describe('The name of the stack, for trace links.'),
        })
        .meta({ id: name('HostedDashboardSettings') }),
      z
        .object({
          provider: z.literal('llm_tracing'),
          ...shared,
          project_name: check.headerValue,
          api_key: check.headerValue,
        })
        .meta({ id: name('LlmTracingSettings') }),
      z
        .object({
          provider: z.literal('otlp_basic_auth'),
          ...shared,
          username: check.userId,
          password: check.credential,
          ...traceUi,
        })
        .meta({ id: name('OtlpBasicAuthSettings') }),
      z
        .object({
          provider: z.literal('otlp_custom_headers'),
          ...shared,
          headers: maybe(check.headers).describe('Custom HTTP headers of each export.'),
          ...traceUi,
        })
        .meta({ id: name('OtlpCustomHeadersSettings') }),
    ])
    .meta({ id: name('ObservabilityProviderSettings') }) as unknown as z.ZodType<Settings, Settings>;
};

export const settingsInput = shapes(
  inputChecks,
  (schema) => optional(schema),
  (shape) => `${shape}Input`,
);
export const settingsOutput = shapes(
  outputChecks,
  (schema) => schema.optional(),
  (shape) => shape,
);
