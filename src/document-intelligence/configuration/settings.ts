import { z } from 'zod';
import { headerMap, jsonObject, text } from '../../http/index.ts';
import { maxUrlLength, urlFault } from '../../lib/http-url.ts';
import { isObject } from '../../lib/objects.ts';
import { nullable, required, withDefault } from '../../resource/index.ts';

/** The settings of each provider, with their secrets. */
export type ReaderSettings =
  | { provider: 'embedded' }
  | { provider: 'azure'; endpoint: string; api_key: string }
  | { provider: 'docling'; url: string; api_key?: string }
  | { provider: 'http'; url: string; headers?: Record<string, string> };

export const providers = ['embedded', 'azure', 'docling', 'http'] as const;
/** The fields that are no secrets. */
export const plainFields = ['provider', 'endpoint', 'url'];

const address = z
  .string()
  .superRefine((value, context) => {
    const message = urlFault(value);
    if (message) context.addIssue({ code: 'custom', message });
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: maxUrlLength } });
const secret = text(4_000, 1).regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters');
const secretOrNull = secret
  .nullish()
  .describe('Never returned. Left out it is kept if the address is the same; null removes it.');

/** `settings` in a body, for each provider. */
const bodies = {
  embedded: z.object({}).meta({ id: 'EmbeddedReaderSettings' }),
  azure: z
    .object({
      endpoint: address.describe('`https://RESOURCE.cognitiveservices.azure.com`'),
      api_key: secret
        .optional()
        .describe('Never returned. It can be left out if one is stored for this endpoint.'),
    })
    .meta({ id: 'AzureReaderSettings' }),
  docling: z
    .object({ url: address.describe('Of a docling-serve.'), api_key: secretOrNull })
    .meta({ id: 'DoclingReaderSettings' }),
  http: z
    .object({
      url: address.describe('Gets the bytes of each document by POST.'),
      headers: headerMap(['content-type', 'accept-encoding', 'user-agent'], 20)
        .nullish()
        .describe('Their values are never returned. Left out they are kept if the url is the same.'),
    })
    .meta({ id: 'HttpReaderSettings' }),
};

/** `settings` of a body; which fields it has depends on `provider`, next to it. */
const providerFields = <P extends (typeof providers)[number]>(provider: P) => ({
  provider: z.literal(provider),
  settings: bodies[provider],
});

const shared = {
  llm_id: z.string().nullish().describe('The model that extracts. Null: the default model.'),
  ocr: z
    .enum(['auto', 'off'])
    .optional()
    .describe('Whether pictures and pages without text are read by OCR.'),
  ocr_languages: z
    .array(z.string().regex(/^[a-z]{3}(?:_[a-z]{3,4})?$/, 'must be a code such as eng'))
    .min(1)
    .max(5)
    .optional()
    .describe('Codes of Tesseract. `eng` is installed.'),
};

export const configurationBody = z
  .discriminatedUnion('provider', [
    z
      .object({ ...providerFields('embedded'), settings: bodies.embedded.optional(), ...shared })
      .meta({ id: 'EmbeddedReaderBody' }),
    z.object({ ...providerFields('azure'), ...shared }).meta({ id: 'AzureReaderBody' }),
    z.object({ ...providerFields('docling'), ...shared }).meta({ id: 'DoclingReaderBody' }),
    z.object({ ...providerFields('http'), ...shared }).meta({ id: 'HttpReaderBody' }),
  ])
  .meta({ id: 'DocumentIntelligenceBody' });

/** The configuration in a workspace document. */
export const form = {
  fields: {
    provider: required(z.enum(providers)),
    settings: withDefault(jsonObject, {}),
    llm_id: nullable(z.string()).refersTo('llm_configuration', 'llm'),
    ocr: withDefault(z.string(), 'auto'),
    ocr_languages: withDefault(z.array(z.string()), ['eng']),
  },
  body: configurationBody,
  secrets: ['settings.api_key', 'settings.headers.*'],
  address: ({ provider, settings }: Record<string, unknown>) => {
    const { url, endpoint } = settings as Record<string, unknown>;
    return [provider, url, endpoint];
  },
};

export type ConfigurationBody = z.output<typeof configurationBody>;

/** The address to which documents are sent, and the field that has it; null for the built-in reader. */
export const addressOf = (
  settings: Pick<ReaderSettings, 'provider'> & { endpoint?: string; url?: string },
): { field: 'endpoint' | 'url'; url: string } | null => {
  if (settings.provider === 'embedded') return null;
  const field = settings.provider === 'azure' ? 'endpoint' : 'url';
  return { field, url: settings[field]! };
};

/** The settings for a response: secrets as whether they are set, headers by their names. */
export const shownSettings = (settings: ReaderSettings): Record<string, unknown> => {
  switch (settings.provider) {
    case 'embedded':
      return {};
    case 'azure':
      return { endpoint: settings.endpoint, api_key_set: true };
    case 'docling':
      return { url: settings.url, api_key_set: settings.api_key !== undefined };
    case 'http':
      return { url: settings.url, header_names: Object.keys(settings.headers ?? {}) };
  }
};

const sameAddress = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');

/**
 * Returns the settings of a body, with the secrets of `stored` that it leaves out. They are kept only for the same
 * provider and the same address: a secret is never sent to a host that it was not given for. Null: azure has no key.
 */
export const withStoredSecrets = (
  { provider, settings = {} }: Pick<ConfigurationBody, 'provider' | 'settings'>,
  stored: ReaderSettings | null,
): ReaderSettings | null => {
  const given = { provider, ...settings } as Record<string, unknown> & ReaderSettings;
  const [to, from] = [addressOf(given), stored && addressOf(stored)];
  const keeps = stored?.provider === provider && to && from && sameAddress(to.url, from.url);
  const merged: Record<string, unknown> = { ...given };
  for (const field of ['api_key', 'headers']) {
    if (merged[field] === undefined && keeps) merged[field] = (stored as Record<string, unknown>)[field];
    if (merged[field] === null || merged[field] === undefined) delete merged[field];
    if (isObject(merged[field]) && Object.keys(merged[field]).length === 0) delete merged[field];
  }
  return provider === 'azure' && merged.api_key === undefined ? null : (merged as ReaderSettings);
};
