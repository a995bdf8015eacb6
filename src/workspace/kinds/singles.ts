import {
  type BrandingFields,
  changeBranding,
  findBranding,
  updateBrandingBody,
} from '../../branding/index.ts';
import { type DocumentIntelligence, documentIntelligenceBody } from '../../document-intelligence/index.ts';
import { type Fault, unprocessable } from '../../lib/errors.ts';
import {
  defaultSettings,
  readSettings,
  type SettingName,
  type SettingsFeature,
  settingDefinitions,
  settingNames,
} from '../../settings/index.ts';
import { clean, withoutEmptyMaps } from '../paths.ts';
import type { Found, Item, Kind } from './kind.ts';
import { changesOf, readBody } from './read.ts';

/** Parts of a document of which there is one each. */

const readSetting = (name: string, value: unknown): Fault[] => {
  if (!Object.hasOwn(settingDefinitions, name))
    return [{ path: name, message: 'is not an advanced setting' }];
  const parsed = settingDefinitions[name as SettingName][0].safeParse(value);
  return parsed.success ? [] : [{ path: name, message: parsed.error.issues[0]!.message }];
};

/** Advanced settings. Those that a document does not name stay. */
export const settingsKind = (settings: SettingsFeature): Kind => ({
  kind: 'settings',
  key: 'settings',
  single: true,
  secrets: {},
  defaults: defaultSettings,
  nameOf: () => 'settings',
  list: async (executor) => {
    const now = await readSettings(executor);
    const item = Object.fromEntries([...settingNames].sort().map((name) => [name, now[name]]));
    return [{ id: 'settings', name: 'settings', item }];
  },
  read: (given, found) => {
    const faults = Object.entries(given).flatMap(([name, value]) => readSetting(name, value));
    if (faults.length > 0) throw unprocessable(faults);
    return { ...found!.item, ...given };
  },
  references: () => [],
  create: async () => 'settings',
  update: async (run, _found, item, changed) => {
    await settings.change(run.tx, run.actor, changesOf(changed, item));
    run.afterwards('settings', () => settings.refresh());
  },
  remove: async () => {},
});

const brandingFields = ['workspace_name', 'logo_data_url', 'logo_dark_data_url', 'primary_color'] as const;

/** Branding. What a document does not name stays. */
export const brandingKind: Kind = {
  kind: 'branding',
  key: 'branding',
  single: true,
  secrets: {},
  defaults: Object.fromEntries(brandingFields.map((field) => [field, ''])),
  nameOf: () => 'branding',
  list: async (executor) => {
    const branding = await findBranding(executor);
    const item = Object.fromEntries(brandingFields.map((field) => [field, branding[field]]));
    return [{ id: 'branding', name: 'branding', item }];
  },
  read: (given, found) => ({ ...found!.item, ...readBody(updateBrandingBody, given) }),
  references: () => [],
  create: async () => 'branding',
  update: async ({ tx, actor }, _found, item, changed) => {
    await changeBranding(tx, actor, changesOf(changed, item) as Partial<BrandingFields>);
  },
  remove: async () => {},
};

const placeholder = 'a-secret-that-is-not-known-yet';

export interface DocumentIntelligenceKind extends Kind {
  /** Throws 422 for an address that may not be reached and a language that is not installed. Without a transaction. */
  verify(item: Item): Promise<void>;
}

type Body = Parameters<DocumentIntelligence['rules']['check']>[0];

/** The reader of documents. A document names it as a whole, or not at all. */
export const documentIntelligenceKind = ({
  rules,
}: Pick<DocumentIntelligence, 'rules'>): DocumentIntelligenceKind => {
  const bodyOf = ({ provider, settings, ocr, ocr_languages }: Item, llmId: string | null): Body =>
    ({ provider, settings, ocr, ocr_languages, llm_id: llmId }) as Body;
  const put: Kind['create'] = async (run, item) => {
    const llmId = item.llm == null ? null : run.idOf('llm_configuration', String(item.llm));
    const settings = { provider: item.provider, ...(item.settings as object) } as never;
    await rules.put(run.tx, run.actor, bodyOf(item, llmId), settings);
    return 'document_intelligence';
  };
  return {
    kind: 'document_intelligence',
    key: 'document_intelligence',
    single: true,
    secrets: { 'settings.api_key': placeholder, 'settings.headers.*': placeholder },
    defaults: {},
    nameOf: () => 'document_intelligence',
    list: async (executor, names): Promise<Found[]> => {
      const { settings, llm_id, ocr, ocr_languages, updated_at } = await rules.readBy(executor);
      if (updated_at === null) return [];
      const { provider, ...rest } = settings;
      const llm = llm_id === null ? null : (names('llm_configuration').get(llm_id) ?? null);
      const item = { provider, settings: withoutEmptyMaps(rest as Item), llm, ocr, ocr_languages };
      return [{ id: 'document_intelligence', name: 'document_intelligence', item }];
    },
    read: (given) => {
      const body = readBody(documentIntelligenceBody, given, { llm: 'llm_id' });
      const { provider, settings = {}, llm_id = null, ocr = 'auto', ocr_languages = ['eng'] } = body;
      const secret = (settings as Item).api_key;
      if (provider === 'azure' && secret === undefined) {
        throw unprocessable([{ path: 'settings.api_key', message: 'is required' }]);
      }
      const present = Object.entries(settings).filter(([, value]) => value !== null);
      return clean({
        provider,
        settings: withoutEmptyMaps(Object.fromEntries(present)),
        llm: llm_id,
        ocr,
        ocr_languages,
      }) as Item;
    },
    address: ({ provider, settings }) => {
      const { url, endpoint } = settings as Item;
      return [provider, url, endpoint];
    },
    references: ({ llm }) =>
      llm == null ? [] : [{ path: 'llm', kind: 'llm_configuration', name: String(llm) }],
    verify: async (item) => {
      await rules.check(bodyOf(item, null), null);
    },
    create: put,
    update: async (run, _found, item) => {
      await put(run, item);
    },
    remove: async () => {},
  };
};
