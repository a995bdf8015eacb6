import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Sets the clock of a database to real time plus `offsetMs`, without a change of its schema: `platform_now()` adds
 * `platform.clock_offset_ms`, which the file of ALTER SYSTEM can set, on PostgreSQL and on the embedded database. A
 * server reads it at its start, and again in every session on SIGHUP (`serverPid`).
 */
export async function setDatabaseClock(
  databaseDir: string,
  offsetMs: number,
  serverPid: number | null = null,
): Promise<void> {
  await writeFile(
    join(databaseDir, 'postgresql.auto.conf'),
    `platform.clock_offset_ms = '${Math.round(offsetMs)}'\n`,
  );
  if (serverPid !== null) process.kill(serverPid, 'SIGHUP');
}
