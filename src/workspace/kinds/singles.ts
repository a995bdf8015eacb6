import { z } from 'zod';
import { brandingFields, changeBranding, findBranding, updateBrandingBody } from '../../branding/index.ts';
import { type DocumentIntelligence, documentIntelligenceBody } from '../../document-intelligence/index.ts';
import { jsonObject } from '../../http/index.ts';
import { type Fault, unprocessable } from '../../lib/errors.ts';
import { withoutNull } from '../../lib/objects.ts';
import type { LlmConfigurations } from '../../llm-configurations/index.ts';
import { bodyOf, defaultsOf, itemOf, nullable, required } from '../../resource/index.ts';
import {
  defaultSettings,
  readSettings,
  type SettingName,
  type SettingsFeature,
  settingDefinitions,
  settingNames,
} from '../../settings/index.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Found, Item, Kind, KindName, Run } from './kind.ts';
import { changesOf, itself, readBody } from './read.ts';
import { resourceKind } from './resource-kind.ts';

/** Parts of a document of which there is one each. */

const readSetting = (name: string, value: unknown): Fault[] => {
  if (!Object.hasOwn(settingDefinitions, name))
    return [{ path: name, message: 'is not an advanced setting' }];
  const parsed = settingDefinitions[name as SettingName][0].safeParse(value);
  return parsed.success ? [] : [{ path: name, message: parsed.error.issues[0]!.message }];
};

/** What a part of a document has that is always there, if `kind` does not say otherwise. */
const single = (kind: Pick<Kind, 'kind' | 'key' | 'list' | 'read' | 'update'> & Partial<Kind>): Kind => ({
  single: true,
  secrets: {},
  defaults: {},
  nameOf: () => kind.kind,
  references: () => [],
  create: async () => kind.kind,
  remove: async () => {},
  ...kind,
});

const found = (name: KindName, item: Item): Found => ({ id: name, name, item });

/** Advanced settings. Those that a document does not name stay. */
export const settingsKind = (settings: SettingsFeature): Kind =>
  single({
    kind: 'settings',
    key: 'settings',
    defaults: defaultSettings,
    list: async (executor) => {
      const now = await readSettings(executor);
      return [
        found('settings', Object.fromEntries([...settingNames].sort().map((name) => [name, now[name]]))),
      ];
    },
    read: (given, before) => {
      const faults = Object.entries(given).flatMap(([name, value]) => readSetting(name, value));
      if (faults.length > 0) throw unprocessable(faults);
      return { ...before!.item, ...given };
    },
    update: async (run, _found, item, changed) => {
      await settings.change(run.tx, run.actor, changesOf(changed, item));
      run.afterwards('settings', () => settings.refresh());
    },
  });

/** Branding. What a document does not name stays. */
export const brandingKind = single({
  kind: 'branding',
  key: 'branding',
  defaults: defaultsOf(brandingFields),
  list: async (executor) => [found('branding', itemOf(brandingFields, await findBranding(executor), itself))],
  read: (given, before) => ({ ...before!.item, ...readBody(updateBrandingBody, given) }),
  update: async ({ tx, actor }, _found, item, changed) => {
    await changeBranding(tx, actor, updateBrandingBody.parse(changesOf(changed, item)));
  },
});

/** Which model agents use that name none. */
export const defaultLlmKind = ({ rules }: LlmConfigurations): Kind =>
  single({
    kind: 'default_llm',
    key: 'default_llm',
    list: async (executor) => {
      const { id, name } = await rules.findDefault(executor);
      return [{ ...found('default_llm', { default_llm: name }), id }];
    },
    toDocument: ({ default_llm }) => default_llm,
    read: (given) => given,
    references: ({ default_llm }) => [{ path: '', kind: 'llm_configuration', name: String(default_llm) }],
    update: (run, _found, { default_llm }) =>
      rules.setDefault(run.tx, run.actor, run.idOf('llm_configuration', String(default_llm))),
  });

const placeholder = 'a-secret-that-is-not-known-yet';
const readerFields = {
  provider: required(z.string()),
  settings: required(jsonObject),
  llm_id: nullable(z.string()).refersTo('llm_configuration', 'llm'),
  ocr: required(z.string()),
  ocr_languages: required(z.array(z.string())),
};

export interface DocumentIntelligenceKind extends Kind {
  /** Throws 422 for an address that may not be reached and a language that is not installed. Without a transaction. */
  verify(item: Item): Promise<void>;
}

/** The reader of documents. A document names it as a whole, or not at all. */
export const documentIntelligenceKind = ({
  rules,
}: Pick<DocumentIntelligence, 'rules'>): DocumentIntelligenceKind => {
  const put = async (run: Run, body: z.output<typeof documentIntelligenceBody>) => {
    await rules.put(run.tx, run.actor, body);
    return { id: 'document_intelligence' };
  };
  const kind = resourceKind({
    kind: 'document_intelligence',
    key: 'document_intelligence',
    single: true,
    fields: readerFields,
    body: documentIntelligenceBody,
    patch: z.unknown(),
    secrets: { 'settings.api_key': placeholder, 'settings.headers.*': placeholder },
    defaults: {},
    nameOf: () => 'document_intelligence',
    list: async (executor) => {
      const { settings, updated_at, ...row } = await rules.readBy(executor);
      if (updated_at === null) return [];
      const { provider, ...rest } = settings;
      const values = { ...row, provider, settings: withoutEmptyMaps({ ...rest }) };
      return [{ id: 'document_intelligence', name: 'document_intelligence', values }];
    },
    complete: (item, { provider, settings = {}, llm_id = null, ocr = 'auto', ocr_languages = ['eng'] }) => {
      if (provider === 'azure' && !('api_key' in settings && settings.api_key)) {
        throw unprocessable([{ path: 'settings.api_key', message: 'is required' }]);
      }
      return {
        ...item,
        settings: withoutEmptyMaps(withoutNull({ ...settings })),
        llm: llm_id,
        ocr,
        ocr_languages,
      };
    },
    address: ({ provider, settings }) => {
      const { url, endpoint } = settings as Item;
      return [provider, url, endpoint];
    },
    create: put,
    update: (run, _id, _changes, item) =>
      put(run, documentIntelligenceBody.parse(bodyOf(readerFields, item, (to, name) => run.idOf(to, name)))),
  });
  return {
    ...kind,
    verify: async (item) => {
      await rules.check(documentIntelligenceBody.parse({ ...item, llm_id: null }), null);
    },
  };
};
