import { audit } from '../audit/index.ts';
import { notify, type Tx } from '../database/index.ts';
import { ApiError, badRequest } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { type DefinitionAction, recordVersion } from './definition-store.ts';
import { publicSettings, type SettingsStore } from './settings.ts';
import { type TriggerRow, triggersChannel, updateTrigger } from './store.ts';
import { checkSecret } from './triggers.ts';
import { generateSecret } from './webhooks/index.ts';

/** Pausing, resuming, and rotating a secret. */

const recordChange = async (
  tx: Tx,
  { principal }: Actor,
  store: SettingsStore,
  row: TriggerRow,
  action: DefinitionAction,
  reason: string | null = null,
): Promise<void> => {
  await recordVersion(tx, row, publicSettings(store.open(row).settings), { action, principal, reason });
  await notify(tx, triggersChannel, row.id);
};

/** Pauses the trigger, which is locked. If it is paused nothing changes. */
export const pauseTrigger = async (
  tx: Tx,
  actor: Actor,
  store: SettingsStore,
  before: TriggerRow,
  reason?: string,
): Promise<TriggerRow> => {
  if (!before.enabled) return before;
  const row = await updateTrigger(tx, before.id, { enabled: false, windowSeconds: null });
  await recordChange(tx, actor, store, row, 'pause', reason ?? null);
  await audit(tx, actor, 'trigger.pause', before.id, reason === undefined ? {} : { reason });
  return row;
};

/** Resumes the trigger, which is locked. If it is not paused nothing changes. */
export const resumeTrigger = async (
  tx: Tx,
  actor: Actor,
  store: SettingsStore,
  before: TriggerRow,
): Promise<TriggerRow> => {
  if (before.enabled) return before;
  const { kind, settings } = store.open(before);
  const windowSeconds = kind === 'absence' ? settings.window_seconds : null;
  const row = await updateTrigger(tx, before.id, { enabled: true, windowSeconds });
  await recordChange(tx, actor, store, row, 'resume');
  await audit(tx, actor, 'trigger.resume', before.id);
  return row;
};

/**
 * Gives the trigger, which is locked, another secret. The one before is valid for `overlapSeconds` more, and no older one
 * is. Throws 412 if it has none, 400 if its sender makes the secret and none is given. Returns what was generated.
 */
export const rotateSecret = async (
  tx: Tx,
  actor: Actor,
  store: SettingsStore,
  before: TriggerRow,
  { secret, overlap_seconds }: { secret?: string | undefined; overlap_seconds: number },
): Promise<{ row: TriggerRow; generated: string | null }> => {
  const configured = store.open(before);
  if (configured.kind !== 'webhook' || configured.settings.scheme === 'none') {
    throw new ApiError('precondition_failed', 'This trigger has no secret to rotate.');
  }
  const { secret: current, previous_secret: _, ...settings } = configured.settings;
  if (secret !== undefined) checkSecret(settings, secret);
  const generated = secret === undefined ? generateSecret(settings) : null;
  const next = secret ?? generated;
  if (next === null) {
    const message = `is required: ${settings.scheme} makes it`;
    throw badRequest(`secret: ${message}`, { details: [{ path: 'secret', message }] });
  }
  const overlaps = overlap_seconds > 0;
  const rotated = { ...settings, secret: next, previous_secret: overlaps ? current : null };
  const row = await updateTrigger(tx, before.id, {
    settings: store.seal(before.id, { kind: 'webhook', settings: rotated }),
    overlapSeconds: overlaps ? overlap_seconds : null,
  });
  await recordChange(tx, actor, store, row, 'rotate_secret');
  await audit(tx, actor, 'trigger.rotate_secret', before.id, { overlap_seconds });
  return { row, generated };
};
