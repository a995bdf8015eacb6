import {
  type Executor,
  type Json,
  json,
  type RawBuilder,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import { defaultSettings, type SettingName, type Settings } from './settings.ts';

declare module '../database/database.ts' {
  interface Schema {
    advanced_settings: Table<{ name: string; value: Json<unknown>; updated_at: Date }, 'updated_at'>;
  }
}

/** Returns all settings, as the caller's transaction sees them if it has one. */
export const readSettings = async (executor: Executor): Promise<Settings> => {
  const rows = await executor.selectFrom('advanced_settings').select(['name', 'value']).execute();
  const changed = rows.filter((row) => row.name in defaultSettings).map((row) => [row.name, row.value]);
  return { ...defaultSettings, ...Object.fromEntries(changed) };
};

/** A setting that is a number, as a part of a larger statement, which sees the settings of its transaction. */
export const settingNumber = (name: SettingName): RawBuilder<number> =>
  sql`coalesce((select value::int from advanced_settings where name = ${sql.lit(name)}),
    ${sql.lit(defaultSettings[name])})`;

/** Inserts or updates one setting. */
export const upsertSetting = async (tx: Tx, name: SettingName, value: unknown): Promise<void> => {
  const row = { name, value: json(value) };
  await tx
    .insertInto('advanced_settings')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: row.value, updated_at: sql<Date>`platform_now()` }),
    )
    .execute();
};
