import { z } from 'zod';
import { id, timestamp } from '../http/index.ts';
import { isObject, mapValues } from '../lib/objects.ts';
import { health, integration } from './schemas.ts';
import { allSettings, isMap, providers, type Setting, type Settings } from './settings.ts';

/** A secret that is stored, or not, and never shown. */
const secret = z.object({ set: z.boolean() }).meta({ id: 'SecretState' });
const secretMap = z.record(z.string(), secret);

const shownAs = (one: Setting) => {
  if (one.seen !== 'secret') return (isMap(one) ? z.record(z.string(), z.string()) : z.string()).optional();
  return (isMap(one) ? secretMap : secret).optional();
};

const { url: _, ...others } = allSettings;

/** The settings of an integration without its credentials. */
const shownSettings = z
  .object({
    provider: z.enum(providers),
    url: z.string(),
    is_enabled: z.boolean(),
    ...mapValues(others, shownAs),
  })
  .meta({ id: 'ShownProviderSettings' });

export const shownIntegration = z
  .object({
    id,
    settings: shownSettings,
    ...integration.pick({
      resolved_url: true,
      description: true,
      version: true,
      is_system: true,
      debug: true,
    }).shape,
    scopes: z.array(
      z
        .object({
          scope: z.enum(['global', 'agent']),
          agent: z.object({ id, name: z.string() }).nullable().describe('null for the global scope.'),
        })
        .meta({ id: 'ShownScope' }),
    ),
    health: health.extend({ last_error_at: timestamp.nullable() }).meta({ id: 'ShownHealth' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ShownIntegration' });

const secretNames = Object.keys(allSettings).filter((name) => allSettings[name]!.seen === 'secret');
const [secretMaps, secrets] = [
  secretNames.filter((name) => isMap(allSettings[name]!)),
  secretNames.filter((name) => !isMap(allSettings[name]!)),
];
type Fields = Record<string, unknown>;

/** `{set: true}` or nothing in a form keeps the stored secret. */
const isKept = (value: unknown): boolean => value === undefined || (isObject(value) && value.set === true);

/** Returns the settings with each secret replaced by whether it is set. */
export const withoutSecrets = (settings: Settings): z.input<typeof shownSettings> => {
  const shown: Fields = { ...settings };
  for (const name of secrets) if (shown[name] !== undefined) shown[name] = { set: true };
  for (const name of secretMaps) {
    if (isObject(shown[name])) {
      shown[name] = Object.fromEntries(Object.keys(shown[name]).map((key) => [key, { set: true }]));
    }
  }
  return shown as z.input<typeof shownSettings>;
};

/**
 * Returns `given` with the secrets that it leaves out taken from `stored`, if the provider is the same. In a map of
 * headers `{set: true}` keeps a value and an absent name removes it; an absent map stays as it is.
 */
export const withStoredSecrets = (given: Fields, stored: Settings): Fields => {
  if (given.provider !== stored.provider) return given;
  const kept = stored as unknown as Fields;
  const merged: Fields = { ...given };
  for (const name of secrets) if (isKept(given[name])) merged[name] = kept[name];
  for (const name of secretMaps) {
    const [before, now] = [kept[name], given[name]];
    if (now === undefined) merged[name] = before;
    else if (isObject(now)) {
      const values = isObject(before) ? before : {};
      merged[name] = Object.fromEntries(
        Object.entries(now).map(([key, value]) => [key, isObject(value) ? values[key] : value]),
      );
    }
  }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
};
