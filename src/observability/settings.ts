import { z } from 'zod';
import { headerMap, headerName, headerValue, optional, text } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { isObject, mapValues } from '../lib/objects.ts';
import { templateFault } from './urls.ts';

/** Attributes of resources, by their keys. */
export type ResourceAttributes = Readonly<Record<string, string>>;

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

const outputMap = z
  .custom<Record<string, string>>(() => true)
  .meta({ openapi: { type: 'object', additionalProperties: { type: 'string' } } });

/** `secret`: no one sees it; `masked`: it is not in the audit log, because it may contain a secret. */
type Seen = 'plain' | 'masked' | 'secret';

export interface Setting<S extends z.ZodType = z.ZodType, R extends boolean = boolean> {
  input: S;
  /**
   * The check of a response. It is weaker than that of a request, so that a stored value is still returned after rules
   * become stricter.
   */
  output: z.ZodType;
  isRequired: R;
  seen: Seen;
  about: string | undefined;
}

/** Maps of headers or attributes are settings of many values. */
export const isMap = ({ input }: Pick<Setting, 'input'>): boolean => {
  const { type } = (input.meta()?.openapi ?? {}) as { type?: string };
  return type === 'object';
};

const setting = <S extends z.ZodType>(input: S, about?: string, seen: Seen = 'plain'): Setting<S, false> => {
  const output = isMap({ input }) ? outputMap : input instanceof z.ZodEnum ? input : z.string();
  return { input, output, isRequired: false, seen, about };
};
const requiredSetting = <S extends z.ZodType>(input: S, seen: Seen = 'plain'): Setting<S, true> => ({
  ...setting(input, undefined, seen),
  isRequired: true,
});

const extraHeaders = (...taken: string[]) =>
  setting(headerMap(taken), 'Additional HTTP headers of each export.', 'secret');
const data_source = setting(
  text(200, 1),
  'The UID or the name of the data source that trace links name. If left out, the dashboard chooses one.',
);
/** Settings of trace links for a collector of any kind. */
const traceUi = {
  trace_view_url: setting(
    urlWithout(urlFault).meta({ openapi: { type: 'string', format: 'uri', maxLength: 2048 } }),
    'The base address of the trace UI, for trace links.',
    'masked',
  ),
  trace_ui_type: setting(z.enum(['dashboard_ui', 'span_ui', 'unknown'])),
  data_source,
};

/** The settings of every provider. */
const shared = {
  url: requiredSetting(
    urlWithout(templateFault).meta({
      openapi: { type: 'string', maxLength: 2048, examples: ['https://collector.example.com/v1/traces'] },
    }),
    'masked',
  ),
  resource_attributes: setting(
    resourceAttributes,
    'Attributes of the resource of each exported span, such as `deployment.environment`. They replace those of the same keys. At most 20.',
  ),
};

/**
 * The providers, each written once: bodies, responses, what is secret and what the application asks for follow from it. A
 * new one also needs its headers (provider.ts).
 */
const providerSettings = {
  hosted_dashboard: {
    schema: 'HostedDashboardSettings',
    settings: {
      api_token: requiredSetting(credential, 'secret'),
      dashboard_instance_id: requiredSetting(userId),
      additional_headers: extraHeaders('authorization'),
      stack_name: setting(stackName, 'The name of the stack, for trace links.'),
      data_source,
    },
  },
  llm_tracing: {
    schema: 'LlmTracingSettings',
    settings: {
      project_name: requiredSetting(headerValue),
      project_header: setting(
        headerName(['x-api-key']),
        'The header that carries `project_name`. If left out, `LLM_TRACING_PROJECT_HEADER` names it; without that, `Langsmith-Project` and `x-project-name` both carry it.',
      ),
      api_key: requiredSetting(headerValue, 'secret'),
      additional_headers: extraHeaders('x-api-key'),
    },
  },
  otlp_basic_auth: {
    schema: 'OtlpBasicAuthSettings',
    settings: {
      username: requiredSetting(userId),
      password: requiredSetting(credential, 'secret'),
      additional_headers: extraHeaders('authorization'),
      ...traceUi,
    },
  },
  otlp_custom_headers: {
    schema: 'OtlpCustomHeadersSettings',
    settings: {
      headers: setting(headerMap(), 'Custom HTTP headers of each export.', 'secret'),
      ...traceUi,
    },
  },
};

type Providers = typeof providerSettings;
export type Provider = keyof Providers;
export const providers = Object.keys(providerSettings) as Provider[];

type ValuesOf<F> = {
  [K in keyof F as F[K] extends Setting<z.ZodType, true> ? K : never]: F[K] extends Setting<infer S>
    ? z.output<S>
    : never;
} & {
  [K in keyof F as F[K] extends Setting<z.ZodType, true> ? never : K]?: F[K] extends Setting<infer S>
    ? z.output<S>
    : never;
};

/** Provider settings (description, 2.2), without `is_enabled`, which all providers have. */
export type ProviderSettings = ValuesOf<typeof shared> &
  { [P in Provider]: { provider: P } & ValuesOf<Providers[P]['settings']> }[Provider];

/** Provider settings in requests and responses. */
export type Settings = ProviderSettings & { is_enabled?: boolean };

/** The settings of all providers, by their names. */
export const allSettings: Record<string, Setting> = Object.assign(
  {},
  ...providers.map((provider) => providerSettings[provider].settings),
  shared,
);

/** The paths of the secrets in settings. */
export const secretPaths = Object.entries(allSettings)
  .filter(([, { seen }]) => seen === 'secret')
  .map(([name, setting]) => (isMap(setting) ? `${name}.*` : name));

/** The settings that the audit log has as they are. */
export const plainSettings = [
  'provider',
  'is_enabled',
  ...Object.keys(allSettings).filter((name) => allSettings[name]!.seen === 'plain'),
];

/** The schemas of the providers, for requests or for responses. `name` makes the names of the schemas. */
const shapes = (io: 'input' | 'output', name: (shape: string) => string) => {
  const maybe = (schema: z.ZodType): z.ZodType => (io === 'input' ? optional(schema) : schema.optional());
  const schemaOf = (one: Setting): z.ZodType => {
    const schema = one.isRequired ? one[io] : maybe(one[io]);
    return one.about === undefined ? schema : schema.describe(one.about);
  };
  const common = {
    url: schemaOf(shared.url).describe(
      `The full OTLP traces endpoint. \${NAME} stands for a permitted variable.`,
    ),
    is_enabled: (io === 'input' ? optional(z.boolean()) : z.boolean()).describe(
      'Whether telemetry is exported. Default true.',
    ),
    resource_attributes: schemaOf(shared.resource_attributes),
  };
  const shapeOf = (provider: Provider) => {
    const { schema, settings }: { schema: string; settings: Record<string, Setting> } =
      providerSettings[provider];
    return z
      .object({ provider: z.literal(provider), ...common, ...mapValues(settings, schemaOf) })
      .meta({ id: name(schema) });
  };
  return z
    .discriminatedUnion('provider', providers.map(shapeOf) as [ReturnType<typeof shapeOf>])
    .meta({ id: name('ObservabilityProviderSettings') }) as unknown as z.ZodType<Settings, Settings>;
};

export const settingsInput = shapes('input', (shape) => `${shape}Input`);
export const settingsOutput = shapes('output', (shape) => shape);
