import type { Database } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import type { Deliveries } from '../deliveries/deliveries.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { SettingsOf, SettingsStore } from '../settings.ts';
import {
  type DueAbsence,
  findLastSeen,
  isKindInUse,
  listDueAbsences,
  listPending,
  type PendingEvent,
  updateDue,
} from './store.ts';

/** The time between two looks for events that wait to be judged. A notification would slow every change of a status. */
const everyMs = 400;
const mostAtOnce = 500;
const absencesEveryMs = 1_000;
/** The pause while no trigger of the kind is in use, and the time after which that is asked again. A notification says it. */
const idleEveryMs = 30_000;

/** Runs `look` while a trigger of the kind is in use. Resolves to the pause after it, in milliseconds. */
const whileInUse = (
  db: Database,
  kind: 'work_item' | 'absence',
  look: () => Promise<number>,
): (() => Promise<number>) => {
  let inUseUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() >= inUseUntil) {
      if (!(await db.run((executor) => isKindInUse(executor, kind)))) return idleEveryMs;
      inUseUntil = performance.now() + idleEveryMs;
    }
    return look();
  };
};

/** An event of the platform itself. Several replicas may find it: only the first stores it. */
const deliveryOf = (
  triggerId: string,
  own: Pick<Delivery, 'occurrenceId' | 'identity' | 'depth'>,
  event: Pick<Delivery['event'], 'id' | 'type' | 'source' | 'subject' | 'body'> & { at: Date },
): Delivery => {
  const { at, ...attributes } = event;
  const time = at.toISOString();
  return {
    ...own,
    triggerId,
    event: { ...attributes, time, received_at: time, headers: {} },
    position: null,
    known: null,
    raw: Buffer.from(JSON.stringify(event.body)),
    isInternal: true,
  };
};

const toDelivery = ({ id, trigger_id, event_id, type, at, depth, body }: PendingEvent): Delivery =>
  deliveryOf(
    trigger_id,
    { occurrenceId: id, identity: event_id, depth },
    { id: event_id, type, source: 'work_item', subject: body.id, body, at },
  );

/** Judges the events of changes of Work Items, which were recorded with the change. */
export const transitionsLoop = (db: Database, log: Logger, deliveries: Deliveries): Loop =>
  new Loop({
    name: 'events of Work Items',
    log,
    maxRetryMs: 2_000,
    tick: whileInUse(db, 'work_item', async () => {
      const pending = await db.run((executor) => listPending(executor, mostAtOnce));
      if (pending.length === 0) return everyMs;
      await deliveries.deliverAll(pending.map(toDelivery));
      return pending.length === mostAtOnce ? 0 : everyMs;
    }),
  });

const absenceDelivery = (
  { id, watched_agent_id, watched_trigger_id, watched_name, now }: DueAbsence,
  dueAt: Date,
  windowSeconds: number,
  lastSeen: Date | null,
): Delivery => {
  const occurrenceId = newId();
  const body = {
    watched: {
      type: watched_trigger_id === null ? 'agent' : 'trigger',
      id: watched_trigger_id ?? watched_agent_id,
      name: watched_name,
    },
    window_seconds: windowSeconds,
    last_seen_at: lastSeen?.toISOString() ?? null,
    missing_since: new Date(dueAt.getTime() - windowSeconds * 1_000).toISOString(),
  };
  return deliveryOf(
    id,
    { occurrenceId, identity: `absence ${dueAt.toISOString()}`, depth: 0 },
    { id: occurrenceId, type: 'absence', source: 'absence', subject: body.watched.id, body, at: now },
  );
};

/** Whole windows later than `dueAt`, the first after `now`: windows that ended while nothing ran are one. */
const nextWindow = (dueAt: Date, windowMs: number, now: Date): Date =>
  new Date(
    dueAt.getTime() + windowMs * Math.max(1, Math.ceil((now.getTime() - dueAt.getTime() + 1) / windowMs)),
  );

const checkAbsence = async (
  db: Database,
  deliveries: Deliveries,
  row: DueAbsence,
  { window_seconds, repeat }: SettingsOf['absence'],
): Promise<void> => {
  const windowMs = window_seconds * 1_000;
  const lastSeen = await db.run((executor) => findLastSeen(executor, row));
  const seenAfter = (at: number): Date | null =>
    lastSeen !== null && lastSeen.getTime() > at ? new Date(lastSeen.getTime() + windowMs) : null;
  const update = (next: { due_at: Date | null; missed_at: Date | null }) =>
    db.run((executor) => updateDue(executor, row, next));
  if (row.due_at === null) {
    const again = seenAfter(row.missed_at!.getTime() - windowMs);
    if (again) await update({ due_at: again, missed_at: null });
    return;
  }
  const later = seenAfter(row.due_at.getTime() - windowMs);
  if (later && later > row.due_at) return update({ due_at: later, missed_at: null });
  const delivered = await deliveries.deliver(absenceDelivery(row, row.due_at, window_seconds, lastSeen));
  if (typeof delivered === 'string') return;
  await update(
    repeat
      ? { due_at: nextWindow(row.due_at, windowMs, row.now), missed_at: null }
      : { due_at: null, missed_at: row.due_at },
  );
};

/** Looks for what is missing. What several replicas find at once is one event, by the end of its window. */
export const absencesLoop = (db: Database, log: Logger, deliveries: Deliveries, store: SettingsStore): Loop =>
  new Loop({
    name: 'absences',
    log,
    maxRetryMs: 2_000,
    tick: whileInUse(db, 'absence', async () => {
      for (const row of await db.run(listDueAbsences)) {
        const { settings } = store.open({ ...row, kind: 'absence' }) as { settings: SettingsOf['absence'] };
        await checkAbsence(db, deliveries, row, settings);
      }
      return absencesEveryMs;
    }),
  });
