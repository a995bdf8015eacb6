import type { z } from 'zod';
import type { Services } from '../feature.ts';
import type { publicTrigger, reading } from './schemas.ts';
import { publicSettings, type SettingsStore } from './settings.ts';
import type { TriggerRow } from './store.ts';

/** How a broker is read. */
export type Reading = z.input<typeof reading>;

/** Resolves to how the triggers with these ids are read, as far as that is known. */
export type Readings = (ids: readonly string[]) => Promise<ReadonlyMap<string, Reading>>;

export interface View {
  /** The triggers as the API shows them. */
  toResponses(rows: readonly TriggerRow[]): Promise<z.input<typeof publicTrigger>[]>;
  toResponse(row: TriggerRow): Promise<z.input<typeof publicTrigger>>;
  /** A trigger that was never read, inside the transaction that makes it. */
  toNewResponse(row: TriggerRow): z.input<typeof publicTrigger>;
}

/** Why a trigger receives no events, as far as its row says it; null if it can. */
export const blockedReason = (
  {
    kind,
    scheme,
    blocked_reason,
    watched_exists,
  }: Pick<TriggerRow, 'kind' | 'scheme' | 'blocked_reason' | 'watched_exists'>,
  allowUnsigned: boolean,
): string | null => {
  if (kind === 'webhook' && scheme === 'none' && !allowUnsigned) {
    return 'The setting ALLOW_UNSIGNED_WEBHOOKS is off, so webhooks without a signature are refused.';
  }
  if (!watched_exists) return 'What it watches was deleted. Let it watch something else, or delete it.';
  return blocked_reason;
};

export const createView = (
  { settings, publicUrl }: Pick<Services, 'settings' | 'publicUrl'>,
  store: SettingsStore,
  readings: Readings,
): View => {
  const show = (row: TriggerRow, read: Reading | null): z.input<typeof publicTrigger> => {
    const { kind, settings: stored } = store.open(row);
    return {
      ...row,
      settings: publicSettings(stored),
      url: kind === 'webhook' ? `${publicUrl()}/hooks/${row.id}` : null,
      secret_set: kind === 'webhook' && stored.secret !== null,
      previous_secret_expires_at: row.previous_secret_valid ? row.previous_secret_expires_at : null,
      blocked_reason: blockedReason(row, settings.get().ALLOW_UNSIGNED_WEBHOOKS),
      reading: read,
      next_due_at: row.due_at,
    };
  };
  const toResponses: View['toResponses'] = async (rows) => {
    const ids = rows.filter(({ kind }) => kind === 'nats' || kind === 'kafka').map(({ id }) => id);
    const readingOf = ids.length > 0 ? await readings(ids) : new Map<string, Reading>();
    return rows.map((row) => show(row, readingOf.get(row.id) ?? null));
  };
  return {
    toResponses,
    toResponse: async (row) => (await toResponses([row]))[0]!,
    toNewResponse: (row) => show(row, null),
  };
};
