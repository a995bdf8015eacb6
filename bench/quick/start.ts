import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../tests/harness/postgres.ts';
import { residentMb } from '../../tests/harness/proc.ts';
import {
  type PlatformProcess,
  type PlatformProcessOptions,
  spawnPlatform,
} from '../../tests/harness/process.ts';
import { percentile } from '../runtime/items.ts';
import { cpuOf } from '../telemetry/target.ts';
import { less, type QuickRow } from './row.ts';

const timedStart = async (options: PlatformProcessOptions): Promise<[number, PlatformProcess]> => {
  const begun = performance.now();
  const platform = await spawnPlatform({ ...options, env: { LOG_LEVEL: 'warn' } });
  return [performance.now() - begun, platform];
};

/** From the start of the process until `/readyz` responds with 200. `databaseUrl` is migrated; the embedded one is new. */
export const starts = async (databaseUrl: string): Promise<QuickRow[]> => {
  const took: number[] = [];
  for (let n = 0; n < 3; n++) {
    const [ms, platform] = await timedStart({ databaseUrl });
    took.push(ms);
    await platform.kill('SIGTERM');
    await platform.stop();
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-bench-'));
  try {
    const embedded: number[] = [];
    for (let n = 0; n < 2; n++) {
      const [ms, platform] = await timedStart({ dataDir });
      embedded.push(ms);
      await platform.kill('SIGTERM');
      await platform.stop();
    }
    return [
      less('start, PostgreSQL', 'ms', percentile(took, 0.5)),
      less('start, embedded, first', 'ms', embedded[0]!),
      less('start, embedded, later', 'ms', embedded[1]!),
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
};

const idleSeconds = 20;

/** What a platform without work costs. Loops that have found nothing rest from their second look on. */
export const idle = async (databaseUrl: string): Promise<QuickRow[]> => {
  const [, platform] = await timedStart({ databaseUrl });
  try {
    await sleep(10_000);
    const transactions = async () => {
      const [row] = await query<{ n: string }>(
        databaseUrl,
        'select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()',
      );
      return Number(row!.n);
    };
    const [cpu, before] = [cpuOf(platform.pid).all, await transactions()];
    await sleep(idleSeconds * 1_000);
    const made = (await transactions()) - before;
    return [
      less('idle, memory', 'MB', residentMb(platform.pid)),
      less('idle, CPU', 'ms/s', (cpuOf(platform.pid).all - cpu) / 1_000 / idleSeconds),
      less('idle, transactions', '/s', made / idleSeconds),
    ];
  } finally {
    await platform.stop();
  }
};
