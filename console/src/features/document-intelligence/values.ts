import type { Body } from '../../api/index.ts';
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

/** The settings of the engine. A stored secret is left out; an empty one is removed. */
const settingsOf = ({ provider, endpoint, url, api_key, headers }: Values) => {
  const key = api_key === null ? {} : { api_key: api_key || null };
  switch (provider) {
    case 'embedded':
      return {};
    case 'azure':
      return { endpoint: endpoint.trim(), ...(api_key ? { api_key } : {}) };
    case 'docling':
      return { url: url.trim(), ...key };
    case 'http':
      return {
        url: url.trim(),
        ...(headers && {
          headers: Object.fromEntries(
            headers.filter(({ name }) => name !== '').map(({ name, value }) => [name, value ?? '']),
          ),
        }),
      };
  }
};

export const toBody = (values: Values): Body<'putDocumentIntelligence'> => {
  const languages = values.ocr_languages.split(/[\s,]+/).filter((code) => code !== '');
  return {
    provider: values.provider,
    settings: settingsOf(values),
    llm_id: values.llm_id,
    ocr: values.ocr,
    ...(languages.length > 0 && { ocr_languages: languages }),
  } as Body<'putDocumentIntelligence'>;
};

/** The field of a fault: those of `settings` are fields of the form. */
export const fieldOf = (path: string): string => path.replace(/^settings\./, '');
