import { z } from 'zod';
import { headerMap, headerName, headerValue, optional, text } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { isObject } from '../lib/objects.ts';
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
  data_source?: string;
}

type Headers = Record<string, string>;

/** Attributes of resources, by their keys. */
export type ResourceAttributes = Readonly<Record<string, string>>;

interface OfEveryProvider {
  url: string;
  resource_attributes?: ResourceAttributes;
}

/** Provider settings (description, 2.2), without `is_enabled`, which all providers have. */
export type ProviderSettings = OfEveryProvider &
  (
    | {
        provider: 'hosted_dashboard';
        api_token: string;
        dashboard_instance_id: string;
        additional_headers?: Headers;
        stack_name?: string;
        data_source?: string;
      }
    | {
        provider: 'llm_tracing';
        project_name: string;
        project_header?: string;
        api_key: string;
        additional_headers?: Headers;
      }
    | ({
        provider: 'otlp_basic_auth';
        username: string;
        password: string;
        additional_headers?: Headers;
      } & TraceUi)
    | ({ provider: 'otlp_custom_headers'; headers?: Headers } & TraceUi)
  );

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

const mostAttributes = 20;

const attributeText = (most: number) =>
  text(most).regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters');
const attributeKey = attributeText(255);
const attributeValue = attributeText(1_024);

/** Values are text, as in OTEL_RESOURCE_ATTRIBUTES. */
const resourceAttributes = z
  .custom<Record<string, string>>(isObject, 'must be an object of keys and texts')
  .superRefine((attributes, context) => {
    const fault = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(attributes);
    if (entries.length > mostAttributes) return fault([], `must have at most ${mostAttributes} attributes`);
    for (const [key, value] of entries) {
      if (key.trim() === '') fault([key], 'is not a key: it is empty');
      const name = attributeKey.safeParse(key);
      if (!name.success) fault([key], `is not a key: it ${name.error.issues[0]!.message}`);
      const content = attributeValue.safeParse(value);
      if (!content.success) fault([key], content.error.issues[0]!.message);
    }
  })
  .meta({
    openapi: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: mostAttributes },
  });

const inputChecks = {
  url: urlWithout(templateFault).meta({
    openapi: { type: 'string', maxLength: 2048, examples: ['https://collector.example.com/v1/traces'] },
  }),
  credential,
  userId,
  headerValue,
  additionalHeaders: headerMap(['authorization']),
  moreHeaders: headerMap(['x-api-key']),
  headers: headerMap(),
  projectHeader: headerName(['x-api-key']),
  resourceAttributes,
  dataSource: text(200, 1),
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
  moreHeaders: outputMap,
  headers: outputMap,
  projectHeader: z.string(),
  resourceAttributes: outputMap,
  dataSource: z.string(),
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
    resource_attributes: maybe(check.resourceAttributes).describe(
      'Attributes of the resource of each exported span, such as `deployment.environment`. They replace those of the same keys. At most 20.',
    ),
  };
  const data_source = maybe(check.dataSource).describe(
    'The UID or the name of the data source that trace links name. If left out, the dashboard chooses one.',
  );
  const additionalHeaders = (headers: z.ZodType) =>
    maybe(headers).describe('Additional HTTP headers of each export.');
  const traceUi = {
    trace_view_url: maybe(check.traceViewUrl).describe('The base address of the trace UI, for trace links.'),
    trace_ui_type: maybe(check.traceUiType),
    data_source,
  };
  return z
    .discriminatedUnion('provider', [
      z
        .object({
          provider: z.literal('hosted_dashboard'),
          ...shared,
          api_token: check.credential,
          dashboard_instance_id: check.userId,
          additional_headers: additionalHeaders(check.additionalHeaders),
          stack_name: maybe(check.stackName).describe('The name of the stack, for trace links.'),
          data_source,
        })
        .meta({ id: name('HostedDashboardSettings') }),
      z
        .object({
          provider: z.literal('llm_tracing'),
          ...shared,
          project_name: check.headerValue,
          project_header: maybe(check.projectHeader).describe(
            'The header that carries `project_name`. If left out, `LLM_TRACING_PROJECT_HEADER` names it; without that, `Langsmith-Project` and `x-project-name` both carry it.',
          ),
          api_key: check.headerValue,
          additional_headers: additionalHeaders(check.moreHeaders),
        })
        .meta({ id: name('LlmTracingSettings') }),
      z
        .object({
          provider: z.literal('otlp_basic_auth'),
          ...shared,
          username: check.userId,
          password: check.credential,
          additional_headers: additionalHeaders(check.additionalHeaders),
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
