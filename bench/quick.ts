import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { migrate, openPostgres } from '../src/database/index.ts';
import { silentLogger } from '../src/lib/log.ts';
import { version } from '../src/lib/version.ts';
import { type Postgres, startPostgres } from '../tests/harness/postgres.ts';
import { api } from './quick/api.ts';
import { frames } from './quick/frames.ts';
import type { QuickRow } from './quick/row.ts';
import { idle, starts } from './quick/start.ts';
import { telemetry } from './quick/telemetry.ts';
import { herd, throughput } from './quick/work.ts';

/**
 * Measures what users wait or pay for, in three minutes, and prints it next to the figures of the last release
 * (`released.json`). A figure is marked if it is worse than these by more than they differ among themselves. It is no test:
 * a machine that others use is slower.
 * `QUICK_RECORD=true` measures three times and writes the file; do it on the machine of the release, when it is quiet.
 */
const file = join(import.meta.dirname, 'quick', 'released.json');

interface Released {
  release: string;
  measured_at: string;
  /** The load of the machine before each run. */
  loads: number[];
  /** The figures of three runs, by row. */
  figures: Record<string, number[]>;
}

const once = async (postgres: Postgres): Promise<QuickRow[]> => {
  const databaseUrl = await postgres.createDatabase();
  const db = await openPostgres(databaseUrl, silentLogger);
  await migrate(db, silentLogger);
  await db.close();
  return [
    ...(await starts(databaseUrl)),
    ...(await idle(databaseUrl)),
    ...(await frames(postgres)),
    ...(await telemetry(postgres.url)),
    ...(await api(postgres)),
    ...(await herd(postgres)),
    ...(await throughput(postgres)),
  ];
};

const text = (value: number): string => (value < 10 ? value.toFixed(1) : Math.round(value).toString());

/** Whether the value is worse than all of the release, by more than those differ. */
const isWorse = ({ better, value }: QuickRow, released: readonly number[]): boolean => {
  const [least, most] = [Math.min(...released), Math.max(...released)];
  return better === 'less' ? value > most + (most - least) : value < least - (most - least);
};

export const run = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true, settings: { track_commit_timestamp: 'on' } });
  const released: Released | null = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  const record: Released = {
    release: version,
    measured_at: new Date().toISOString(),
    loads: [],
    figures: {},
  };
  for (let n = 0; n < (process.env.QUICK_RECORD ? 3 : 1); n++) {
    const begun = performance.now();
    record.loads.push(Number(loadavg()[0]!.toFixed(1)));
    const rows = await once(postgres);
    for (const { what, value } of rows) {
      record.figures[what] = [...(record.figures[what] ?? []), Number(value.toPrecision(4))];
    }
    console.table(
      rows.map((row) => {
        const before = released?.figures[row.what];
        return {
          what: row.what,
          unit: row.unit,
          now: text(row.value),
          'peer or limit': row.limit === undefined ? '' : text(row.limit),
          released: before ? before.map(text).join(', ') : '',
          '': before && isWorse(row, before) ? 'WORSE' : '',
        };
      }),
    );
    console.log(
      `${Math.round((performance.now() - begun) / 1_000)} s, load ${record.loads.at(-1)} before it${released ? `; release ${released.release} of ${released.measured_at.slice(0, 10)} at a load of ${released.loads.join(', ')}` : ''}.`,
    );
  }
  if (process.env.QUICK_RECORD) writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
};
