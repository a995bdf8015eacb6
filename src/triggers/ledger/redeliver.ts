import { audit } from '../../audit/index.ts';
import { json, type Tx } from '../../database/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { workItemCalls } from '../../work-items/index.ts';
import { type Content, eventOf, openContent, sealContent } from '../deliveries/content.ts';
import { addCounts } from '../deliveries/store.ts';
import { identityHash } from '../deliveries/transaction.ts';
import { judge } from '../expressions/index.ts';
import type { TriggerRow } from '../store.ts';
import { findEvent, insertManual } from './store.ts';

export interface Redelivered {
  id: string;
  occurrence_id: string;
  work_item_id: string;
}

/** The Work Item of an event by the present mapping. Throws 422 if there is none. */
const mapped = async (trigger: TriggerRow, content: Content, maxPayloadBytes: number) => {
  const read = eventOf(trigger.kind, content);
  const { mapping } = trigger;
  const [judgement] =
    'invalid' in read
      ? [{ outcome: 'invalid' as const, reason: read.invalid }]
      : await judge([
          { definition: { mapping, filter: null, dedup: null }, event: read.event, maxPayloadBytes },
        ]);
  if (judgement!.outcome === 'ready') return judgement!;
  throw unprocessable([{ path: 'mapping', message: judgement!.reason }]);
};

/**
 * Makes another Work Item of an event, of its kept body by the present mapping: neither pause nor filter, dedup or limit are
 * judged. The trigger is locked. Throws 404 for an unknown entry, 412 if its body is gone, 422 if the mapping fails.
 */
export const redeliver = async (
  tx: Tx,
  actor: Actor,
  trigger: TriggerRow,
  id: string,
  { vault, maxPayloadBytes, replicaId }: { vault: Vault; maxPayloadBytes: number; replicaId: string },
): Promise<Redelivered> => {
  const original = isId(id) ? await findEvent(tx, trigger.id, id) : undefined;
  if (!original) throw notFound('event');
  if (original.content === null) {
    throw new ApiError('precondition_failed', 'The body of this event is not kept any more.');
  }
  const content = openContent(vault, original.id, original.content);
  const { message, workItemName, payload } = await mapped(trigger, content, maxPayloadBytes);
  const occurrenceId = newId();
  const item = await workItemCalls.create(tx, {
    agentId: trigger.agent_id,
    scheduleId: null,
    triggerId: trigger.id,
    occurrenceId,
    workItemName,
    message,
    payload,
    draft: false,
    principal: actor.principal,
    depth: original.depth,
  });
  const { kind, id: principalId, name } = actor.principal;
  await insertManual(tx, {
    id: occurrenceId,
    triggerId: trigger.id,
    identity: identityHash({ identity: null, occurrenceId }),
    original,
    workItemId: item.id,
    revision: trigger.revision,
    principal: json({ kind, id: principalId, name }),
    content: sealContent(vault, occurrenceId, content),
  });
  await addCounts(tx, [{ trigger_id: trigger.id, outcome: 'manual', reason: '', count: 1 }], replicaId);
  await audit(tx, actor, 'trigger_event.redeliver', occurrenceId, {
    trigger_id: trigger.id,
    original_id: original.id,
    work_item_id: item.id,
  });
  return { id, occurrence_id: occurrenceId, work_item_id: item.id };
};
