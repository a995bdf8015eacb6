import type { Database } from '../database/index.ts';
import type { StreamEvent, StreamSource } from '../event-streams/index.ts';
import { shownApprovals } from '../runs/index.ts';
import { publicMessage } from './schemas.ts';
import { allowedActions, finishedStatuses, type Status } from './states.ts';
import { findWorkItem, type WorkItem } from './store.ts';
import { type Happening, listHappenings } from './stream-store.ts';

/** Number of rows that are read at once. */
const pageSize = 200;
/** The result of a tool in an event has at most so many characters; the message has all of it. */
const shownText = 2_000;

const isFinished = (status: Status): boolean => (finishedStatuses as readonly Status[]).includes(status);

type Event = { type: string; data: object };

/**
 * The events of a Work Item, made of its history and its messages, which have one order. A row always makes the same
 * number of events, so that their numbers are the same on every replica and whenever they are read.
 */
class Events {
  #seq = 0;
  /** Times at which the calls that have no result yet were asked for. */
  readonly #calls = new Map<string, Date>();

  of(happening: Happening, item: WorkItem): StreamEvent[] {
    const events =
      happening.kind === 'transition' ? this.#ofTransition(happening.to, item) : this.#ofMessage(happening);
    const at = happening.at.toISOString();
    return events.map(({ type, data }) => ({
      seq: ++this.#seq,
      type,
      data: JSON.stringify({ run_id: item.id, at, ...data }),
    }));
  }

  #ofTransition(status: Status, item: WorkItem): Event[] {
    const updated = {
      type: 'work_item.updated',
      data: { status, allowed_actions: allowedActions(status, item.agent_exists) },
    };
    if (status !== 'NEEDS_REVIEW' && status !== 'INDETERMINATE') return [updated];
    // Requests of earlier reviews are not kept.
    const pending = item.status === status ? (item.pending_approvals ?? []) : [];
    return [
      { type: 'approval.requested', data: { approvals: shownApprovals(pending, item.open_review) } },
      updated,
    ];
  }

  #ofMessage({ seq: _, kind: __, at, ...message }: Happening & { kind: 'message' }): Event[] {
    if (message.role === 'assistant') {
      const shown = publicMessage.parse({ ...message, created_at: at });
      const started = message.content.flatMap((part): Event[] => {
        if (part.type !== 'tool_call') return [];
        const { tool_call_id, tool_name, arguments: args } = part;
        this.#calls.set(tool_call_id, at);
        return [{ type: 'tool.started', data: { tool_call_id, tool_name, arguments: args ?? {} } }];
      });
      return [{ type: 'message.completed', data: { message: shown } }, ...started];
    }
    return message.content.flatMap((part): Event[] => {
      if (part.type !== 'tool_result') return [];
      const { tool_call_id, tool_name, is_error, text } = part;
      const began = this.#calls.get(tool_call_id) ?? at;
      this.#calls.delete(tool_call_id);
      const duration_ms = Math.max(0, at.getTime() - began.getTime());
      const shown = text.slice(0, shownText).toWellFormed();
      return [
        { type: 'tool.completed', data: { tool_call_id, tool_name, is_error, text: shown, duration_ms } },
      ];
    });
  }
}

/** The events of a Work Item after the one with the number `after`, until it is finished. */
export const workItemSource = (db: Database, workItemId: string, after: number): StreamSource => {
  const made = new Events();
  let seq = 0;
  let status: Status | null = null;
  return {
    read: async () => {
      const rows = await db.run((executor) => listHappenings(executor, workItemId, seq, pageSize));
      const item = await db.run((executor) => findWorkItem(executor, workItemId));
      if (!item) return { events: [], ended: true, more: false };
      const events = rows.flatMap((row) => made.of(row, item)).filter((event) => event.seq > after);
      for (const row of rows) {
        seq = row.seq;
        if (row.kind === 'transition') status = row.to;
      }
      const more = rows.length === pageSize;
      return { events, ended: !more && status !== null && isFinished(status), more };
    },
  };
};
