import type { Postgres } from '../../tests/harness/postgres.ts';
import { type Seeded, seed } from '../console/seed.ts';
import { carryOut, prepareHerd, read, sendSpans, sizes } from './loads.ts';
import { closeRig, type Line, measure, openRig, type Rig, startReplicas } from './rig.ts';

const counts = (process.env.SCALING_REPLICAS ?? '1,2,3,4').split(',').map(Number);

/** The reads of clients: a Work Item, a page of them, the schedules of an agent. */
export const readsOf = ({ agent, workItem }: Seeded): string[] => [
  `/api/v2/work-items/${workItem}`,
  '/api/v2/work-items?limit=50',
  `/api/v2/agents/${agent}/schedules`,
];

/** Removes what the measurements added, so that each replica count meets the same tables. */
const removeNew = async ({ client }: Rig): Promise<void> => {
  await client.query(
    `delete from work_items where created_at > now() - interval '1 hour' and created_by <> 'bench' or status = 'COMPLETED' and payload ? 'mock'`,
  );
  await client.query('truncate occurrences');
  await client.query(
    'vacuum analyze work_items, work_item_events, work_item_messages, work_item_steps, schedules',
  );
};

const lines = async (rig: Rig, seeded: Seeded, replicas: number): Promise<Line[]> => {
  await startReplicas(rig, replicas, 'api,scheduler,delivery');
  // The first ones compile the code and open the connections.
  await (await prepareHerd(rig, Math.min(2_000, sizes.herd)))();
  const paths = readsOf(seeded);
  await read(rig, paths, 300 * replicas);
  await sendSpans(rig);
  const fired = await measure(rig, 'firings', await prepareHerd(rig, sizes.herd));
  const readings = await measure(rig, 'reads', () => read(rig, paths, sizes.reads));
  const spans = await measure(rig, 'spans acknowledged', () => sendSpans(rig));
  await removeNew(rig);
  await startReplicas(rig, replicas, 'api,worker,delivery');
  await carryOut(rig, 300 * replicas);
  const items = await measure(rig, 'Work Items to COMPLETED', () => carryOut(rig, sizes.items));
  await removeNew(rig);
  return [fired, items, spans, readings];
};

/** The same load on 1, 2, 3 and 4 replicas on one machine: what each adds, and what an operation costs. Prints one table. */
export const measureReplicas = async (postgres: Postgres): Promise<void> => {
  const databaseUrl = await postgres.createDatabase();
  const seeded = await seed(databaseUrl, { schedules: sizes.herd, workItems: 10_000 });
  const rig = await openRig(postgres, databaseUrl);
  const rows: (Line & { replicas: number })[] = [];
  try {
    await rig.client.query(
      `update schedules set next_run_at = next_run_at + interval '1 day' where next_run_at is not null`,
    );
    for (const replicas of counts) {
      for (const line of await lines(rig, seeded, replicas)) rows.push({ replicas, ...line });
    }
  } finally {
    await closeRig(rig);
  }
  console.log(
    'The same load on more replicas: the platform, PostgreSQL with fsync and the clients share this machine.',
  );
  console.table(rows.toSorted((a, b) => a.what.localeCompare(b.what)));
};
