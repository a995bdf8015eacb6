import type { z } from 'zod';
import { brandingFields, changeBranding, findBranding, updateBrandingBody } from '../../branding/index.ts';
import { type DocumentIntelligence, documentReaderForm } from '../../document-intelligence/index.ts';
import { withoutNull } from '../../lib/objects.ts';
import type { LlmConfigurations } from '../../llm-configurations/index.ts';
import { defaultsOf, itemOf } from '../../resource/index.ts';
import {
  checkSettings,
  defaultSettings,
  readSettings,
  type SettingsFeature,
  settingNames,
} from '../../settings/index.ts';
import { changesOf, itself, readBody } from '../bodies.ts';
import { requireAll } from '../faults.ts';
import type { Found, Item, Kind, KindName, Run } from '../kind.ts';
import { resourceKind } from '../resource-kind.ts';

/** A part of a document that is always there. */
const single = (kind: Pick<Kind, 'kind' | 'key' | 'list' | 'read' | 'update'> & Partial<Kind>): Kind => ({
  single: true,
  secrets: [],
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
      requireAll(
        ...Object.entries(given).map(
          ([name, value]) =>
            () =>
              checkSettings({ [name]: value }),
        ),
      );
      return { ...before!.item, ...given };
    },
    update: async (run, _found, item, changed) => {
      await settings.change(run.tx, run.actor, changesOf(changed, item));
      run.afterwards('settings', () => settings.refresh());
    },
  });

/** Branding. Fields that a document does not name stay. */
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

/** The model of agents that name none. */
export const defaultLlmKind = (llms: LlmConfigurations): Kind =>
  single({
    kind: 'default_llm',
    key: 'default_llm',
    list: async (executor) => {
      const { id, name } = await llms.findDefault(executor);
      return [{ ...found('default_llm', { default_llm: name }), id }];
    },
    toDocument: ({ default_llm }) => default_llm,
    read: (given) => given,
    references: ({ default_llm }) => [{ path: '', kind: 'llm_configuration', name: String(default_llm) }],
    update: (run, _found, { default_llm }) =>
      llms.setDefault(run.tx, run.actor, run.idOf('llm_configuration', String(default_llm))),
  });

const id = 'document_intelligence';

/** The reader of documents. A document names it as a whole, or not at all. */
export const documentIntelligenceKind = (documents: DocumentIntelligence): Kind => {
  const put = async ({ tx, actor }: Run, body: z.output<typeof documentReaderForm.body>) => {
    await documents.put(tx, actor, body);
    return { id };
  };
  return resourceKind({
    kind: id,
    key: id,
    single: true,
    ...documentReaderForm,
    defaults: {},
    nameOf: () => id,
    list: async (executor) => {
      const { settings, updated_at, ...row } = await documents.readBy(executor);
      if (updated_at === null) return [];
      const { provider, ...rest } = settings;
      return [{ id, values: { ...row, provider, settings: rest } }];
    },
    complete: (item) => ({ ...item, settings: withoutNull(item.settings as Item) }),
    create: put,
    update: (run, _id, body) => put(run, body),
    verify: (item) => documents.check(documentReaderForm.body.parse({ ...item, llm_id: null }), null),
  });
};
