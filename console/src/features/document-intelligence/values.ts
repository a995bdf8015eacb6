import type { Body } from '../../api/index.ts';
import { documentReaders } from '../../api/kinds.gen.ts';
import type { DocumentIntelligence } from '../../api/types.gen.ts';
import { type SecretEntry, storedEntries } from '../../ui/index.ts';

export type Provider = DocumentIntelligence['provider'];

/** The values of the form. A secret is null while the stored one stays. */
export interface Values {
  provider: Provider;
  /** Of azure; the others have `url`. */
  endpoint: string;
  url: string;
  api_key: string | null;
  headers: SecretEntry[] | null;
  llm_id: string | null;
  ocr: DocumentIntelligence['ocr'];
  ocr_languages: string;
}

/** What the API never shows. */
export const secrets = ['api_key', 'headers'] as const;

export const toValues = ({
  provider,
  settings,
  llm_id,
  ocr,
  ocr_languages,
}: DocumentIntelligence): Values => ({
  provider,
  endpoint: settings.endpoint ?? '',
  url: settings.url ?? '',
  api_key: settings.api_key_set ? null : '',
  headers: settings.header_names?.length ? null : storedEntries([]),
  llm_id,
  ocr,
  ocr_languages: ocr_languages.join(', '),
});

const trimmed = (address: string): string => address.trim().replace(/\/+$/, '');

/** Whether the stored secrets belong to another engine or address: they are not sent there. */
export const isMoved = (values: Values, stored: Values): boolean =>
  values.provider !== stored.provider ||
  trimmed(values.endpoint) !== trimmed(stored.endpoint) ||
  trimmed(values.url) !== trimmed(stored.url);

/** The names of the settings that an engine has. */
export const settingsOf = (provider: Provider): ReadonlySet<string> =>
  new Set([...documentReaders[provider].required, ...documentReaders[provider].optional]);

/** The settings of the engine. A stored secret is left out; an empty one is removed, or left out if it is needed. */
const toSettings = ({ provider, endpoint, url, api_key, headers }: Values) => {
  const own = settingsOf(provider);
  const all = {
    endpoint: endpoint.trim(),
    url: url.trim(),
    api_key: api_key || (api_key === null || provider === 'azure' ? undefined : null),
    headers:
      headers === null
        ? undefined
        : Object.fromEntries(
            headers.filter(({ name }) => name !== '').map(({ name, value }) => [name, value ?? '']),
          ),
  };
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => own.has(name) && value !== undefined),
  );
};

export const toBody = (values: Values): Body<'putDocumentIntelligence'> => {
  const languages = values.ocr_languages.split(/[\s,]+/).filter((code) => code !== '');
  return {
    provider: values.provider,
    settings: toSettings(values),
    llm_id: values.llm_id,
    ocr: values.ocr,
    ...(languages.length > 0 && { ocr_languages: languages }),
  } as Body<'putDocumentIntelligence'>;
};

/** The field of a fault: those of `settings` are fields of the form. */
export const fieldOf = (path: string): string => path.replace(/^settings\./, '');
