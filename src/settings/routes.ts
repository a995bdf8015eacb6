import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { jsonObject, jsonRoute, type Route } from '../http/index.ts';
import { changeSettings, type SettingsHook } from './change.ts';
import { settingDefinitions, settingNames } from './settings.ts';
import { readSettings } from './store.ts';

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
      type: z.enum(['boolean', 'integer', 'string']),
      default: z.union([z.boolean(), z.int(), z.string()]),
      minimum: z.int().optional(),
      maximum: z.int().optional(),
      enum: z.array(z.string()).optional().describe('The values that a string may have.'),
      description: z.string(),
    }),
  )
  .meta({ id: 'AdvancedSettingsSchema' });

interface SchemaFacts {
  type: 'boolean' | 'integer' | 'string';
  minimum?: number;
  maximum?: number;
  enum?: string[];
}

/**
 * `hooks` run in the transaction of each change. `refresh` runs after it, so that the change is in effect on this replica
 * when the response is sent.
 */
export const settingsRoutes = (
  db: Database,
  hooks: readonly SettingsHook[],
  refresh: () => Promise<void>,
): Route[] => [
  jsonRoute({
    id: 'getAdvancedSettings',
    role: 'admin',
    scope: 'settings:read',
    request: 'GET /advanced-settings',
    summary: 'Get the advanced settings',
    response: advancedSettings,
    handler: () => db.run(readSettings),
  }),
  jsonRoute({
    id: 'updateAdvancedSettings',
    role: 'admin',
    scope: 'settings',
    request: 'PATCH /advanced-settings',
    summary: 'Update advanced settings',
    // Any object is accepted here: `changeSettings` refuses an unknown name with `setting`. The document lists the
    // known names.
    body: jsonObject.meta({
      openapi: {
        type: 'object',
        properties: z.toJSONSchema(advancedSettings).properties,
        additionalProperties: false,
      },
    }),
    response: advancedSettings,
    handler: async ({ body, transaction, actor }) => {
      const settings = await transaction((tx) => changeSettings(tx, actor, body, hooks));
      await refresh();
      return settings;
    },
  }),
  jsonRoute({
    id: 'getAdvancedSettingsSchema',
    role: 'admin',
    scope: 'settings:read',
    request: 'GET /advanced-settings/schema',
    summary: 'Get the schema of the advanced settings',
    response: settingsSchema,
    handler: async () =>
      settingNames.map((name) => {
        const [schema, fallback, description] = settingDefinitions[name];
        const { minimum, maximum, type, enum: values } = z.toJSONSchema(schema) as unknown as SchemaFacts;
        return { name, type, default: fallback, minimum, maximum, enum: values, description };
      }),
  }),
];
