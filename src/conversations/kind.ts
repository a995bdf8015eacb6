import { agentSql } from '../agents/index.ts';
import { sql } from '../database/index.ts';
import { createRuns } from '../runs/index.ts';
import { recordMoved } from './endings.ts';
import { type ConversationRun, columns } from './run-store.ts';

/** Runs of conversations as runs. The conversation, which each of them writes too, is locked before the run. */
export const conversationRuns = createRuns<ConversationRun>({
  table: 'conversation_runs',
  columns,
  words: {
    PENDING: 'queued',
    EXECUTING: 'running',
    NEEDS_REVIEW: 'needs_review',
    COMPLETED: 'completed',
    ERROR: 'error',
    CANCELLED: 'cancelled',
  },
  parent: { table: 'conversations', key: 'conversation_id' },
  onClaim: [
    sql`started_at = coalesce(started_at, platform_now())`,
    agentSql.pinAssignment(sql`w.conversation_id`),
  ],
  onMove: [],
  onEnd: (result) => [sql`answer = ${result} #>> '{}'`],
  contextCut: {
    read: sql`(select c.context_cut from conversations c where c.id = w.conversation_id)`,
    save: (cut, { id }) => ({
      alongside: sql`update conversations set context_cut = ${cut}
        where id = (select conversation_id from conversation_runs where id = ${id})`,
    }),
  },
  onMoved: recordMoved,
});
