import type { Tx } from '../../database/index.ts';
import { sha256, type Vault } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { storable } from '../../lib/storable.ts';
import { type Judgement, judge } from '../expressions/index.ts';
import { sealContent } from './content.ts';
import { Decider, type Decision, keyOf } from './decide.ts';
import type { Delivered, Delivery } from './delivery.ts';
import {
  findStored,
  findTakenKeys,
  type LockedTrigger,
  lockTriggers,
  type NewEvent,
  type StoredEvent,
  writeEvents,
} from './store.ts';

/** A delivery, and what the expressions of its trigger say of it, as they were at `revision`. */
export interface Judged {
  delivery: Delivery;
  /** Null: it was not judged. */
  judgement: Judgement | null;
  revision: number;
}

export interface StoreParts {
  vault: Vault;
  replicaId: string;
  /** The present limits, from the settings. */
  limits: () => { maxPayloadBytes: number; keepsBodies: boolean };
}

/** What a transaction stored, by outcome, for counts and metrics. */
export interface Report {
  triggerId: string;
  kind: LockedTrigger['kind'];
  outcome: string;
  count: number;
}

const longestName = 500;
const longestType = 500;
const longestReason = 1_000;

/** The identity of a delivery as it is stored. */
export const identityHash = ({
  identity,
  occurrenceId,
}: Pick<Delivery, 'identity' | 'occurrenceId'>): string =>
  sha256(identity === null ? `delivery\n${occurrenceId}` : `event\n${identity}`);

const contentOf = ({ vault, limits }: StoreParts, id: string, { raw, event }: Delivery): string | null => {
  if (!raw || !limits().keepsBodies) return null;
  const { body: _, ...attributes } = event;
  return sealContent(vault, id, { ...attributes, raw });
};

/** One distinct event of a transaction with all its deliveries in it. */
interface Group {
  first: Judged;
  trigger: LockedTrigger;
  identity: string;
  bodyHash: string | null;
  deliveries: number;
  differing: number;
  /** The indexes of its deliveries. */
  indexes: number[];
}

const hashOf = ({ raw }: Delivery): string | null => (raw ? sha256(raw) : null);

const isBroker = ({ kind }: LockedTrigger): boolean => kind === 'nats' || kind === 'kafka';

/** Groups deliveries that are the same event. Those that are not stored get their result. */
const groupsOf = (
  judged: readonly Judged[],
  triggers: ReadonlyMap<string, LockedTrigger>,
  results: Delivered[],
): Group[] => {
  const groups = new Map<string, Group>();
  judged.forEach((one, index) => {
    const { delivery } = one;
    const trigger = triggers.get(delivery.triggerId);
    if (!trigger) {
      results[index] = 'gone';
      return;
    }
    if (!trigger.enabled && (isBroker(trigger) || trigger.kind === 'absence')) {
      results[index] = 'held';
      return;
    }
    const identity = identityHash(delivery);
    const bodyHash = hashOf(delivery);
    const key = `${trigger.id} ${identity}`;
    const group = groups.get(key);
    if (!group) {
      groups.set(key, {
        first: one,
        trigger,
        identity,
        bodyHash,
        deliveries: 1,
        differing: 0,
        indexes: [index],
      });
      return;
    }
    group.deliveries++;
    group.indexes.push(index);
    if (bodyHash !== group.bodyHash) group.differing++;
  });
  return [...groups.values()];
};

/** The revisions of a trigger differ if it was changed after its events were judged: then they are judged again. */
const judgeAgain = async (groups: readonly Group[], maxPayloadBytes: number): Promise<void> => {
  const stale = groups.filter(
    ({ first, trigger }) =>
      first.delivery.known === null && (first.judgement === null || first.revision !== trigger.revision),
  );
  const jobs = stale.map(({ first, trigger }) => ({
    definition: trigger,
    event: first.delivery.event,
    maxPayloadBytes,
  }));
  if (jobs.length === 0) return;
  const again = await judge(jobs);
  stale.forEach((group, k) => {
    group.first = { ...group.first, judgement: again[k]!, revision: group.trigger.revision };
  });
};

const unjudged: Judgement = { outcome: 'invalid', reason: 'It was not judged.' };

const toEvent = (
  parts: StoreParts,
  group: Group,
  decision: Decision,
  isPending: boolean,
  id: string,
): NewEvent => {
  const { first, trigger, identity, bodyHash, deliveries, differing } = group;
  const { delivery } = first;
  const { start } = decision;
  return {
    id,
    isPending,
    trigger_id: trigger.id,
    agent_id: trigger.agent_id,
    identity,
    event_id: storable(delivery.event.id).slice(0, longestName).toWellFormed(),
    position: delivery.position,
    type: delivery.event.type && storable(delivery.event.type).slice(0, longestType).toWellFormed(),
    outcome: decision.outcome,
    reason: decision.reason && storable(decision.reason).slice(0, longestReason).toWellFormed(),
    original_id: decision.originalId,
    deliveries,
    differing,
    body_hash: bodyHash,
    depth: delivery.depth,
    revision: trigger.revision,
    content: contentOf(parts, id, delivery),
    item: start && {
      id: newId(),
      message: start.message,
      work_item_name: start.workItemName,
      payload: JSON.stringify(start.payload),
      start_at: start.at,
      key: start.key,
    },
  };
};

const resultOf = (
  { id, outcome, work_item_id }: Pick<StoredEvent, 'id' | 'outcome' | 'work_item_id'>,
  repeated: boolean,
): Delivered => ({ occurrenceId: id, outcome, workItemId: work_item_id, repeated });

/**
 * Stores deliveries, possibly of several triggers, in the caller's transaction, and starts their Work Items. The lock of a
 * trigger comes first, so that what another transaction stored of it is seen. Resolves to what became of each, in their
 * order, and to what there is to count.
 */
export const storeDeliveries = async (
  tx: Tx,
  parts: StoreParts,
  judged: readonly Judged[],
): Promise<{ results: Delivered[]; reports: Report[] }> => {
  const results: Delivered[] = [];
  const ids = [...new Set(judged.map(({ delivery }) => delivery.triggerId))];
  const locked = new Map((await lockTriggers(tx, ids)).map((row) => [row.id, row]));
  const groups = groupsOf(judged, locked, results);
  if (groups.length === 0) return { results, reports: [] };
  await judgeAgain(groups, parts.limits().maxPayloadBytes);
  const stored = await findStored(
    tx,
    groups.map(({ trigger, identity }) => ({ trigger_id: trigger.id, identity })),
  );
  const isNew = (k: number): boolean => (stored.get(k)?.outcome ?? 'pending') === 'pending';
  const keys = groups.flatMap(({ first, trigger }, k) => {
    const key = isNew(k) && first.judgement ? keyOf(first.judgement) : null;
    return key === null ? [] : [{ trigger_id: trigger.id, key }];
  });
  const taken = await findTakenKeys(tx, keys);
  const deciders = new Map(
    [...locked].map(([id, trigger]) => [id, new Decider(trigger, taken.get(id) ?? new Map())]),
  );

  const events: NewEvent[] = [];
  const repeated: { id: string; deliveries: number; differing: number }[] = [];
  const reports = new Map<string, Report>();
  const report = ({ id, kind }: LockedTrigger, outcome: string, count: number): void => {
    if (count === 0) return;
    const key = `${id} ${outcome}`;
    const before = reports.get(key)?.count ?? 0;
    reports.set(key, { triggerId: id, kind, outcome, count: before + count });
  };
  groups.forEach((group, k) => {
    const { first, trigger, deliveries, differing, indexes, bodyHash } = group;
    const before = stored.get(k);
    if (before && !isNew(k)) {
      for (const index of indexes) results[index] = resultOf(before, true);
      if (first.delivery.isInternal) return;
      const differ = bodyHash === before.body_hash ? differing : deliveries - differing;
      repeated.push({ id: before.id, deliveries, differing: differ });
      report(trigger, 'repeated', deliveries);
      return;
    }
    const decision = deciders.get(trigger.id)!.decide(first.delivery, first.judgement ?? unjudged);
    const event = toEvent(
      parts,
      group,
      decision,
      before !== undefined,
      before?.id ?? first.delivery.occurrenceId,
    );
    events.push(event);
    report(trigger, decision.outcome, 1);
    report(trigger, 'repeated', deliveries - 1);
    const result = { id: event.id, outcome: event.outcome, work_item_id: event.item?.id ?? null };
    indexes.forEach((index, n) => {
      results[index] = resultOf(result, n > 0);
    });
  });
  const limited = [...deciders.values()].filter(({ trigger }) => trigger.rate_limit !== null);
  await writeEvents(tx, {
    events,
    repeated,
    buckets: limited.map((decider) => ({ id: decider.trigger.id, fullAt: decider.bucketFullAt })),
    counts: [...reports.values()].map(({ triggerId, outcome, count }) => ({
      trigger_id: triggerId,
      outcome,
      reason: '',
      count,
    })),
    replicaId: parts.replicaId,
    now: [...locked.values()][0]!.now,
  });
  return { results, reports: [...reports.values()] };
};
