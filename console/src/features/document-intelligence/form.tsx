import { useOperation, usePermission } from '../../api/index.ts';
import { documentReaders as kinds } from '../../api/kinds.gen.ts';
import type { DocumentIntelligence } from '../../api/types.gen.ts';
import { describeForm } from '../../resource/describe-form.ts';
import {
  areStored,
  type Control,
  choice,
  mapOf,
  optionalChoice,
  secret,
  secretMap,
  text,
} from '../../resource/fields.tsx';
import { common } from '../../text/en/common.ts';
import { documentIntelligence as words } from '../../text/en/document-intelligence.ts';
import { permissionReason, type SecretEntry, Select } from '../../ui/index.ts';

interface ReaderValues extends Record<'endpoint' | 'url' | 'ocr_languages', string> {
  provider: DocumentIntelligence['provider'];
  api_key: string | null;
  headers: SecretEntry[];
  llm_id: string | null;
  ocr: DocumentIntelligence['ocr'];
}

const ModelSelect = ({ disabledReason, ...field }: Control<string | null>) => {
  const permission = usePermission('listLlmConfigurations');
  const got = useOperation(
    'listLlmConfigurations',
    {},
    { query: { limit: 100 }, enabled: permission.allowed },
  );
  return (
    <Select
      {...field}
      disabledReason={disabledReason ?? permissionReason(permission)}
      clearable
      options={(got.data?.data ?? []).map(({ id, name, model }) => ({ value: id, label: name, note: model }))}
      nothing={got.loading ? common.loading : undefined}
    />
  );
};

const trimmed = (address: string): string => address.trim().replace(/\/+$/, '');

/** Says that the stored secrets belong to another engine or address: they are not sent there. */
export const isMoved = (values: ReaderValues, stored: ReaderValues): boolean =>
  values.provider !== stored.provider ||
  trimmed(values.endpoint) !== trimmed(stored.endpoint) ||
  trimmed(values.url) !== trimmed(stored.url);

const trim = (address: string): string => address.trim();

export const readerForm = describeForm<
  ReaderValues,
  DocumentIntelligence,
  'putDocumentIntelligence',
  'putDocumentIntelligence',
  'settings'
>(
  { words, kinds, kindOf: ({ provider }) => provider, inside: 'settings', whole: true, paths: {} },
  {
    provider: choice('embedded', words.providers, {
      hint: ({ provider }) => words.hints[provider],
      // Another engine has an address and credentials of its own.
      also: () => ({ endpoint: '', url: '', api_key: '', headers: [] }),
    }),
    endpoint: text({ hint: words.endpointHint, type: 'url', send: trim }),
    url: text({
      hint: ({ provider }) => (provider === 'docling' ? words.doclingHint : words.httpHint),
      type: 'url',
      send: trim,
    }),
    api_key: secret({
      hint: ({ provider, api_key }) =>
        provider === 'docling' && api_key !== null ? words.keyOptional : undefined,
      required: ({ provider }) => provider === 'azure',
      // Azure takes none that is empty.
      send: (key, { provider }) =>
        key === null ? undefined : key || (provider === 'azure' ? undefined : null),
    }),
    headers: secretMap('settings.header_names', {
      hint: words.headersHint,
      send: (headers) => (areStored(headers) ? undefined : mapOf(headers, (value) => value ?? '')),
    }),
    llm_id: {
      ...optionalChoice({}, { hint: words.llmHint }),
      control: (props) => <ModelSelect {...props} />,
    },
    ocr: choice('auto', words.ocrs, { hint: words.ocrHint }),
    ocr_languages: text({
      hint: words.languagesHint,
      mono: true,
      read: (read) => (read('ocr_languages') as string[]).join(', '),
      send: (codes) => {
        const languages = codes.split(/[\s,]+/).filter((code) => code !== '');
        return languages.length > 0 ? languages : undefined;
      },
    }),
  },
);
