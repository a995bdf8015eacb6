import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { lockCopied, updateCopied } from './checkpoint-store.ts';
import { toResponse } from './responses.ts';
import { type AuditRow, listChainedAfter } from './store.ts';

/** Few enough that a reader which is slower than the database does not hold up the process for long. */
const batch = 200;

const lineOf = (row: AuditRow): string => `${JSON.stringify({ audit: true, ...toResponse(row) })}\n`;

/**
 * Makes the loop that copies the chain to standard output (AUDIT_TO_LOG): each entry, once it is committed with its
 * position and hash, as one line of JSON with `"audit": true`.
 *
 * Nothing is lost when a process dies: the row `audit_copy`, which all replicas share, says how far the copy is. The one
 * replica that holds its lock writes the next lines and moves it on only when the system has them, in one transaction.
 * When that replica dies before, another one writes the lines again. So a line may come twice, and a gap in `position`
 * shows that lines were lost after they left the process, or that someone changed the row. The first start with
 * AUDIT_TO_LOG copies the whole chain.
 */
export const copyLoop = ({ db, log }: { db: Database; log: Logger }, write: (lines: string) => void): Loop =>
  new Loop({
    name: 'audit copy',
    log,
    tick: async () => {
      const copied = await db.tx(async (tx) => {
        const mark = await lockCopied(tx);
        const rows = mark ? await listChainedAfter(tx, mark.position, batch) : [];
        if (rows.length === 0) return 0;
        write(rows.map(lineOf).join(''));
        await updateCopied(tx, rows.at(-1)!.position!);
        return rows.length;
      });
      return copied === batch ? 0 : 500;
    },
  });
