import { z } from 'zod';
import { audit } from '../audit/index.ts';
import { type Database, notify } from '../database/index.ts';
import { jsonObject, type Route, route } from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { type SettingName, settingDefinitions, settingNames } from './settings.ts';
import { readSettings, upsertSetting } from './store.ts';

/** The channel that notifies replicas of a changed setting. */
export const settingsChannel = 'advanced_settings';

const advancedSettings = z
  .object(
    Object.fromEntries(
      settingNames.map((name) => [name, settingDefinitions[name][0].describe(settingDefinitions[name][2])]),
    ),
  )
  .meta({ id: 'AdvancedSettings' });

const settingsSchema = z
  .array(
    z.object({
      name: z.string(),
      type: z.enum(['boolean', 'integer']),
      default: z.union([z.boolean(), z.int()]),
      minimum: z.int().optional(),
      maximum: z.int().optional(),
      description: z.string(),
    }),
  )
  .meta({ id: 'AdvancedSettingsSchema' });

interface SchemaFacts {
  type: 'boolean' | 'integer';
  minimum?: number;
  maximum?: number;
}

const wrong = (setting: string, message: string) => unprocessable([{ path: setting, message }], { setting });

/** Returns the changes of a PATCH. Throws 422 with `setting` for the first wrong one. */
const checkChanges = (body: Record<string, unknown>): [SettingName, unknown][] =>
  Object.entries(body).map(([name, value]) => {
    if (!Object.hasOwn(settingDefinitions, name)) throw wrong(name, 'is not an advanced setting');
    const parsed = settingDefinitions[name as SettingName][0].safeParse(value);
    if (!parsed.success) throw wrong(name, parsed.error.issues[0]!.message);
    return [name as SettingName, parsed.data];
  });

/** `refresh` runs after each change, so that the change is in effect on this replica when the response is sent. */
export const settingsRoutes = (db: Database, refresh: () => Promise<void>): Route[] => [
  route({
    id: 'getAdvancedSettings',
    role: 'admin',
    method: 'GET',
    path: '/advanced-settings',
    summary: 'Get the advanced settings',
    response: advancedSettings,
    handler: () => db.run(readSettings),
  }),
  route({
    id: 'updateAdvancedSettings',
    role: 'admin',
    method: 'PATCH',
    path: '/advanced-settings',
    summary: 'Update advanced settings',
    // Any object is accepted here: `checkChanges` refuses an unknown name with `setting`. The document lists the known
    // names.
    body: jsonObject.meta({
      openapi: {
        type: 'object',
        properties: z.toJSONSchema(advancedSettings).properties,
        additionalProperties: false,
      },
    }),
    response: advancedSettings,
    handler: async ({ body, transaction, actor }) => {
      const changes = checkChanges(body);
      const settings = await transaction(async (tx) => {
        const before = await readSettings(tx);
        for (const [name, value] of changes) {
          if (before[name] === value) continue;
          await upsertSetting(tx, name, value);
          await audit(tx, actor, 'advanced_setting.update', name, { before: before[name], after: value });
        }
        await notify(tx, settingsChannel);
        return readSettings(tx);
      });
      await refresh();
      return settings;
    },
  }),
  route({
    id: 'getAdvancedSettingsSchema',
    role: 'admin',
    method: 'GET',
    path: '/advanced-settings/schema',
    summary: 'Get the schema of the advanced settings',
    response: settingsSchema,
    handler: async () =>
      settingNames.map((name) => {
        const [schema, fallback, description] = settingDefinitions[name];
        const { minimum, maximum, type } = z.toJSONSchema(schema) as unknown as SchemaFacts;
        return { name, type, default: fallback, minimum, maximum, description };
      }),
  }),
];
