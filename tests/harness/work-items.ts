import { sql } from 'kysely';
import type { Database, Tx } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Status } from '../../src/work-items/states.ts';
import { findWorkItem, type WorkItem } from '../../src/work-items/store.ts';
import { createWorkItem } from '../../src/work-items/work-items.ts';
import { type AgentFields, insertAgents } from './agents.ts';
import { tester } from './api.ts';

/** Inserts one agent without the API. Returns its id. */
export const makeAgent = async (db: Database, fields: AgentFields = {}): Promise<string> => {
  const id = newId();
  await db.tx((tx) => insertAgents(tx, [id], fields));
  return id;
};

/** `n` PENDING Work Items of the agent, oldest first. */
export const makeItems = (db: Database, agentId: string, n: number): Promise<WorkItem[]> =>
  db.tx(async (tx) => {
    const items: WorkItem[] = [];
    for (let i = 0; i < n; i++) {
      items.push(
        await createWorkItem(tx, {
          agentId,
          scheduleId: null,
          workItemName: null,
          message: '',
          payload: {},
          draft: false,
          principal: tester,
        }),
      );
    }
    return items;
  });

/** Puts a Work Item into a state, without a transition. */
export const force = async (db: Database, id: string, status: Status): Promise<void> => {
  const lease = status === 'EXECUTING' ? sql`platform_now() + interval '1 hour'` : sql`null`;
  await db.tx((tx) =>
    sql`update work_items set status = ${status}, lease_expires_at = ${lease} where id = ${id}`.execute(tx),
  );
};

export const itemOf = async (db: Database, id: string): Promise<WorkItem> =>
  (await db.run((reader) => findWorkItem(reader, id)))!;

/** Runs a transaction whose time is `seconds` from now. */
export const later = <T>(db: Database, seconds: number, fn: (tx: Tx) => Promise<T>): Promise<T> =>
  db.tx(async (tx) => {
    await sql`select set_config('platform.clock_offset_ms', ${String(seconds * 1000)}, true)`.execute(tx);
    return fn(tx);
  });

/** Cancels the Work Items that other tests of the same database left open. */
export const cancelEverything = async (db: Database): Promise<void> => {
  await db.tx((tx) =>
    sql`update work_items set status = 'CANCELLED', lease_expires_at = null
      where status in ('PENDING', 'EXECUTING')`.execute(tx),
  );
};
