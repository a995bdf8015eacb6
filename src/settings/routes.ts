import { z } from 'zod';
import { audit } from '../audit/index.ts';
import { type Database, notify } from '../database/index.ts';
import { jsonObject, type Route, route } from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { type SettingName, settingDefinitions, settingNames } from './settings.ts';
import { readSettings, writeSetting } from './store.ts';

/** The channel on which replicas hear that a setting was changed. */
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

/** The changes that a PATCH asks for, each checked; 422 with `setting` at the first that is wrong. */
const checkChanges = (body: Record<string, unknown>): [SettingName, unknown][] =>
  Object.entries(body).map(([name, value]) => {
    if (!Object.hasOwn(settingDefinitions, name)) throw wrong(name, 'is no advanced setting');
    const parsed = settingDefinitions[name as SettingName][0].safeParse(value);
    if (!parsed.success) throw wrong(name, parsed.error.issues[0]!.message);
    return [name as SettingName, parsed.data];
  });

/** `changed` is waited for after each change, so that it holds here once it is answered. */
export const settingsRoutes = (db: Database, changed: () => Promise<void>): Route[] => [
  route({
    id: 'getAdvancedSettings',
    method: 'GET',
    path: '/advanced-settings',
    tag: 'Advanced settings',
    summary: 'All advanced settings, one flat record',
    response: advancedSettings,
    handler: () => db.run(readSettings),
  }),
  route({
    id: 'updateAdvancedSettings',
    method: 'PATCH',
    path: '/advanced-settings',
    tag: 'Advanced settings',
    summary: 'Change some advanced settings, at once on every replica',
    // Any object: an unknown name is refused by name. Clients are told which there are.
    body: jsonObject.meta({
      openapi: {
        type: 'object',
        properties: z.toJSONSchema(advancedSettings).properties,
        additionalProperties: false,
      },
    }),
    response: advancedSettings,
    handler: async ({ body, transaction, principal, requestId }) => {
      const changes = checkChanges(body);
      const settings = await transaction(async (tx) => {
        const before = await readSettings(tx);
        for (const [name, value] of changes) {
          if (before[name] === value) continue;
          await writeSetting(tx, name, value);
          await audit(tx, principal, {
            action: 'advanced_setting.update',
            targetType: 'advanced_setting',
            targetId: name,
            details: { before: before[name], after: value },
            requestId,
          });
        }
        await notify(tx, settingsChannel);
        return readSettings(tx);
      });
      await changed();
      return settings;
    },
  }),
  route({
    id: 'getAdvancedSettingsSchema',
    method: 'GET',
    path: '/advanced-settings/schema',
    tag: 'Advanced settings',
    summary: 'What each advanced setting means and may be',
    response: settingsSchema,
    handler: async () =>
      settingNames.map((name) => {
        const [schema, fallback, description] = settingDefinitions[name];
        const { minimum, maximum, type } = z.toJSONSchema(schema) as unknown as SchemaFacts;
        return { name, type, default: fallback, minimum, maximum, description };
      }),
  }),
];
