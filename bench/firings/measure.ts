/** When one job of a herd was created, in milliseconds since 1970. */
export interface Job {
  /** When it was committed: by the database's clock if the database keeps that time, as PostgreSQL does. */
  committed: number;
  /** The time of creation in its row; null if the row has none. */
  created: number | null;
}

/** One herd. Times are milliseconds after the instant at which all of it was due; CPU is microseconds for each job. */
export interface Herd {
  made: number;
  median: number;
  p99: number;
  last: number;
  /**
   * The last one, by the times in the rows. Rows created in one statement have the same time, however late that was
   * committed.
   */
  lastCreated: number | null;
  engineMicros: number;
  /** Of the database's server; null if it cannot be separated from the engine's. */
  databaseMicros: number | null;
}

/** CPU since `start` of this process, which is the engine's, and of the database's server, in microseconds. */
export interface CpuMeter {
  start(): Promise<void>;
  stop(): Promise<{ engine: number; database: number | null }>;
}

/** `databaseMicros` returns what the server has used so far. */
export const cpuMeter = (databaseMicros: () => Promise<number | null> | number | null): CpuMeter => {
  let engine = process.cpuUsage();
  let database: number | null = null;
  return {
    start: async () => {
      database = await databaseMicros();
      engine = process.cpuUsage();
    },
    stop: async () => {
      const { user, system } = process.cpuUsage(engine);
      const now = await databaseMicros();
      return { engine: user + system, database: now === null || database === null ? null : now - database };
    },
  };
};

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

/** The figures of a herd that was due at `due` (milliseconds since 1970). */
export const herdOf = (
  due: number,
  jobs: readonly Job[],
  cpu: { engine: number; database: number | null },
): Herd => {
  const late = jobs.map((job) => job.committed - due).sort((a, b) => a - b);
  const created = jobs.map((job) => job.created);
  const per = (micros: number): number => (jobs.length > 0 ? micros / jobs.length : Number.NaN);
  return {
    made: jobs.length,
    median: at(late, 0.5),
    p99: at(late, 0.99),
    last: at(late, 1),
    lastCreated: created.reduce<number | null>(
      (last, ms) => (ms === null ? last : Math.max(last ?? 0, ms - due)),
      null,
    ),
    engineMicros: per(cpu.engine),
    databaseMicros: cpu.database === null ? null : per(cpu.database),
  };
};

/**
 * The herd with the median last job, because the machine is shared. If not all herds were completed, the one with the
 * most jobs.
 */
export const medianHerd = (herds: readonly Herd[]): Herd => {
  const full = Math.max(...herds.map((herd) => herd.made));
  const complete = herds.filter((herd) => herd.made === full).sort((a, b) => a.last - b.last);
  return complete[Math.floor(complete.length / 2)]!;
};
