import pg from 'pg';
import type { Job } from './measure.ts';
import { cronAt, type Module, type Peer, type Store } from './peer.ts';
import { message } from './platform.ts';
import { jobsIn } from './postgres-jobs.ts';

const queueName = 'fire';

/** Runs `task` for 0 to n - 1, 100 of them at a time. */
const inHundreds = async (n: number, task: (k: number) => Promise<unknown>): Promise<void> => {
  for (let k = 0; k < n; k += 100)
    await Promise.all(Array.from({ length: Math.min(100, n - k) }, (_, i) => task(k + i)));
};

interface Backend {
  store: Peer['store'];
  /** Prepares the store. Resolves to the options of a connection, and the factory that BullMQ also needs. */
  connect(store: Store): Promise<{ connection: unknown; factory: unknown[] }>;
  /** The jobs created for occurrences after `due`. */
  made(queue: Module, store: Store, due: Date, n: number): Promise<Job[]>;
}

const redis: Backend = {
  store: 'redis',
  connect: async ({ url, load }) => {
    const Redis = load('ioredis');
    // BullMQ blocks on connections of its own, and requires that they have no limit of retries.
    return { connection: new Redis(url, { maxRetriesPerRequest: null }), factory: [] };
  },
  // The time when BullMQ sent the job to Redis, by this machine's clock, which Redis uses too.
  made: async (queue, _store, due, n) => {
    const delayed: { timestamp: number }[] = await queue.getDelayed(0, n);
    return delayed
      .filter(({ timestamp }) => timestamp >= due.getTime())
      .map(({ timestamp }) => ({ committed: timestamp, created: timestamp }));
  },
};

const postgres: Backend = {
  store: 'postgres',
  connect: async ({ url, load }) => {
    const { runMigrations, createPostgresBackend } = load('bullmq');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await runMigrations(client);
    await client.end();
    return { connection: url, factory: [createPostgresBackend] };
  },
  made: async (_queue, { url }, due) => {
    const from = 'from bullmq.job where process_at_ms > extract(epoch from $1::timestamptz) * 1000';
    const table = await jobsIn(url, due, from, 'to_timestamp(added_at_ms / 1000.0)');
    try {
      return await table.jobs();
    } finally {
      await table.close();
    }
  },
};

/**
 * One job scheduler for each schedule. It creates the job of an occurrence when a worker takes the one before, which is
 * not taken before it is due. So workers run here, with nothing to do, and a firing is the creation of the next
 * occurrence's job: exactly one for each schedule, as for the others.
 */
const bullmqWith = (
  backend: Backend,
  settings: string,
  { workers, concurrency, template }: { workers: number; concurrency?: number; template: object },
): Peer => ({
  name: 'bullmq',
  settings: `${backend.store}, ${settings}`,
  defaultsOnly: settings === 'default',
  store: backend.store,
  resolutionMs: 1_000,
  start: async (store, n, due) => {
    const { Queue, Worker } = store.load('bullmq');
    const { connection, factory } = await backend.connect(store);
    const queue = new Queue(queueName, { connection }, ...factory);
    queue.on('error', () => {});
    const pattern = cronAt(due);
    await inHundreds(n, (shop) =>
      queue.upsertJobScheduler(
        `schedule ${shop}`,
        { pattern, tz: 'UTC' },
        { name: 'fire', data: { shop, message }, opts: template },
      ),
    );
    let taken = 0;
    const options = { connection, ...(concurrency ? { concurrency } : {}) };
    const running = Array.from({ length: workers }, () => {
      const worker = new Worker(queueName, async () => {}, options, ...factory);
      worker.on('error', () => {});
      // Emitted when the job of the next occurrence is created.
      worker.on('active', () => taken++);
      return worker;
    });
    return {
      count: async () => taken,
      jobs: () => backend.made(queue, store, due, n),
      stop: async () => {
        await Promise.all(running.map((worker) => worker.close(true)));
        await queue.close();
        if (backend === redis) (connection as Module).disconnect();
      },
    };
  },
});

/** Its documentation shows several workers and a concurrency of 50. */
const tuned = {
  workers: 4,
  concurrency: 50,
  template: { removeOnComplete: true, removeOnFail: true },
};

export const bullmq: readonly Peer[] = [redis, postgres].flatMap((backend) => [
  bullmqWith(backend, 'default', { workers: 1, template: {} }),
  bullmqWith(backend, '4 workers of concurrency 50, finished jobs removed', tuned),
]);
