import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, migrate, openEmbedded, openPostgres } from '../src/database/index.ts';
import { silentLogger } from '../src/lib/log.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { processMicros } from '../tests/harness/proc.ts';
import { type CpuMeter, cpuMeter, type Herd, medianHerd } from './firings/measure.ts';
import { measurePeers, type PeerResult } from './firings/peers.ts';
import { floorHerd, platformHerd } from './firings/platform.ts';

/**
 * Herds: N schedules due at one instant, each with its own identity and payload, each creating one job. The lateness of
 * each is the time when PostgreSQL committed it minus the instant. (All rows that one statement creates have the time
 * at which the statement began.)
 */
const herds = 5;

interface Row {
  what: string;
  schedules: number;
  herds: number;
  herd: Herd;
}

const repeated = async (what: string, schedules: number, once: () => Promise<Herd>): Promise<Row> => {
  const all: Herd[] = [];
  for (let i = 0; i < herds; i++) all.push(await once());
  const herd = medianHerd(all);
  console.log(`${what}: ${schedules}, the last after ${Math.round(herd.last)} ms`);
  return { what, schedules, herds, herd };
};

const ours = 'Agent Platform';
const floor = 'SQL floor';
const fullFloor = 'SQL floor, all four tables';

const embedded = async (size: number): Promise<Row[]> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'agent-platform-bench-'));
  const db = await openEmbedded(dataDir, silentLogger);
  await migrate(db, silentLogger);
  const cpu = cpuMeter(() => null);
  const rows = [
    await repeated(`${ours}, embedded`, size, () => platformHerd(db, size, cpu)),
    await repeated(`${floor}, embedded`, size, () => floorHerd(db, size, false, cpu)),
  ];
  await db.close();
  rmSync(dataDir, { recursive: true, force: true });
  return rows;
};

const postgres = async (db: Database, size: number, cpu: CpuMeter): Promise<Row[]> => [
  await repeated(ours, size, () => platformHerd(db, size, cpu)),
  await repeated(floor, size, () => floorHerd(db, size, false, cpu)),
  await repeated(fullFloor, size, () => floorHerd(db, size, true, cpu)),
];

const perSecond = ({ made, last }: Herd): number => made / (last / 1000);

const rowOf = ({ peer, version, schedules, herds, median }: PeerResult): Row => ({
  what: `${peer.name} ${version}, ${peer.settings}`,
  schedules,
  herds,
  herd: median,
});

const print = (rows: readonly Row[]): void => {
  const whole = (n: number | null): number | null =>
    n === null || !Number.isFinite(n) ? null : Math.round(n);
  console.table(
    rows.map(({ what, schedules, herds, herd }) => ({
      what,
      schedules,
      made: herd.made,
      herds,
      'p50 ms': whole(herd.median),
      'p99 ms': whole(herd.p99),
      'last ms': whole(herd.last),
      'last created_at ms': whole(herd.lastCreated),
      'firings/s': whole(perSecond(herd)),
      'CPU µs/firing, engine': whole(herd.engineMicros),
      'CPU µs/firing, database': whole(herd.databaseMicros),
    })),
  );
};

/** CPU of the engine and of its database: on a busy machine it says more than time does. */
const micros = ({ engineMicros, databaseMicros }: Herd): number => engineMicros + (databaseMicros ?? 0);

/** The platform against the best peer that has a schedule for each job and created all jobs, and against the floors. */
const printRatios = (rows: readonly Row[], peers: readonly PeerResult[], sizes: readonly number[]): void => {
  for (const size of sizes) {
    const of = (what: string): Herd => rows.find((row) => row.what === what && row.schedules === size)!.herd;
    const percent = (what: string): string => `${Math.round((100 * of(what).last) / of(ours).last)} %`;
    console.log(
      `${size} schedules: ${percent(floor)} of the floor, ${percent(fullFloor)} of all four tables'.`,
    );
    const peersWithSchedules = peers.filter(
      ({ peer, schedules, median }) => schedules === size && median.made === size && !peer.noSchedules,
    );
    if (peersWithSchedules.length === 0) continue;
    const fastest = peersWithSchedules.reduce((a, b) => (b.median.last < a.median.last ? b : a));
    const leanest = peersWithSchedules.reduce((a, b) => (micros(b.median) < micros(a.median) ? b : a));
    console.log(
      `  ${(fastest.median.last / of(ours).last).toFixed(1)} × the fastest peer, ${rowOf(fastest).what};\n` +
        `  ${(micros(leanest.median) / micros(of(ours))).toFixed(1)} × less CPU than the leanest, ${rowOf(leanest).what}.`,
    );
  }
};

/**
 * Prints one table. `FIRINGS_HERDS=1000,10000` chooses other sizes. `PEERS_DIR` is the folder where peers are
 * installed; they get the sizes up to 10,000.
 */
export const run = async (): Promise<void> => {
  const sizes = (process.env.FIRINGS_HERDS ?? '1000,10000,100000').split(',').map(Number);
  const load = (): string =>
    loadavg()
      .map((n) => n.toFixed(1))
      .join(' ');
  console.log(`Load of the machine before: ${load()}.`);
  const rows = await embedded(sizes[0]!);
  const server = await startPostgres({ durable: true, settings: { track_commit_timestamp: 'on' } });
  const db = await openPostgres(server.url, silentLogger);
  await migrate(db, silentLogger);
  const cpu = cpuMeter(() => processMicros(server.pid!));
  for (const size of sizes) rows.push(...(await postgres(db, size, cpu)));
  await db.close();
  const peers = await measurePeers(
    server,
    sizes.filter((size) => size <= 10_000),
  );
  await server.stop();
  console.log(
    '\nSchedules due at one instant, on PostgreSQL with fsync unless noted, all on this machine: the herd\n' +
      'with the median last one. `last created_at` is by the times in the rows.\n',
  );
  print([...rows, ...peers.map(rowOf)]);
  printRatios(rows, peers, sizes);
  console.log(`Load of the machine after: ${load()}.`);
};

if (import.meta.main) await run();
