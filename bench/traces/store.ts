import { readdirSync, readFileSync } from 'node:fs';
import { type Database, migrate, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { defaultSettings, type Settings } from '../../src/settings/index.ts';
import { listParts, type Part } from '../../src/traces/part-store.ts';
import { PartKeeper } from '../../src/traces/retention.ts';
import { TraceWriter } from '../../src/traces/writer.ts';

/** The store of traces without the telemetry path, in this process. */
export const openStore = async (
  url: string,
  limits: Partial<Settings> = {},
): Promise<{
  db: Database;
  writer: TraceWriter;
  keeper: { check(): Promise<void>; list(): Promise<Part[]> };
}> => {
  const db = await openPostgres(url, silentLogger, 4);
  await migrate(db, silentLogger);
  const all: Settings = { ...defaultSettings, TRACE_RETENTION_MB: 1_048_576, ...limits };
  const settings = { get: () => all, onChange: () => {}, inTransaction: () => {} };
  const writer: TraceWriter = new TraceWriter(db, () => {});
  const keeper = new PartKeeper({ db, settings, writer, log: silentLogger });
  return { db, writer, keeper: { check: () => keeper.check(), list: () => db.run(listParts) } };
};

/** User and system time of all processes of PostgreSQL so far, in µs (Linux; in clock ticks of 10 ms). */
export const postgresCpu = (): number => {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [name, rest] = [
        stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
        stat.slice(stat.lastIndexOf(')') + 2),
      ];
      const fields = rest.split(' ');
      if (name.startsWith('postgres')) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended in the meantime.
    }
  }
  return ticks * 10_000;
};
