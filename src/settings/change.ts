import { audit } from '../audit/index.ts';
import { notify, type Tx } from '../database/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { type Actor, type Principal, scopesAllow } from '../lib/principal.ts';
import { type SettingName, type Settings, settingDefinitions, settingScopes } from './settings.ts';
import { readSettings, upsertSetting } from './store.ts';

/** The channel that notifies replicas of a changed setting. */
export const settingsChannel = 'advanced_settings';

const wrong = (setting: string, message: string) => unprocessable([{ path: setting, message }], { setting });

/** Returns the changes that `body` names. Throws 422 with `setting` for the first wrong one. */
export const checkSettings = (body: Record<string, unknown>): [SettingName, unknown][] =>
  Object.entries(body).map(([name, value]) => {
    if (!Object.hasOwn(settingDefinitions, name)) throw wrong(name, 'is not an advanced setting');
    const parsed = settingDefinitions[name as SettingName][0].safeParse(value);
    if (!parsed.success) throw wrong(name, parsed.error.issues[0]!.message);
    return [name as SettingName, parsed.data];
  });

/** Throws 403 if a key with scopes lacks the one that the setting needs besides `settings`. */
const checkScope = ({ scopes }: Principal, setting: SettingName): void => {
  const scope = settingScopes[setting] ?? null;
  if (scopesAllow(scopes, scope)) return;
  throw new ApiError(
    'forbidden',
    `${setting} requires the scope ${scope}, which this API key does not have.`,
    {
      setting,
    },
  );
};

/** The work of another feature in the transaction that changes settings. It may throw what the client sees. */
export type SettingsHook = (tx: Tx, actor: Actor, before: Settings, after: Settings) => Promise<void>;

/**
 * Changes the settings that `body` names, on every replica when `tx` commits. Returns all settings. Throws 403 for one
 * that the scopes of a key do not contain.
 */
export const changeSettings = async (
  tx: Tx,
  actor: Actor,
  body: Record<string, unknown>,
  hooks: readonly SettingsHook[],
): Promise<Settings> => {
  const changes = checkSettings(body);
  const before = await readSettings(tx);
  for (const [name, value] of changes) {
    if (before[name] === value) continue;
    checkScope(actor.principal, name);
    await upsertSetting(tx, name, value);
    await audit(tx, actor, 'advanced_setting.update', name, { before: before[name], after: value });
  }
  await notify(tx, settingsChannel);
  const after = await readSettings(tx);
  for (const hook of hooks) await hook(tx, actor, before, after);
  return after;
};
