import { hostname } from 'node:os';
import { beforeEach, expect, it } from 'vitest';
import { onPostgres } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { later } from '../../tests/harness/work-items.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { silentLogger } from '../lib/log.ts';
import type { LoopPass } from '../lib/loop.ts';
import { version } from '../lib/version.ts';
import { Heartbeat } from './heartbeat.ts';
import {
  type Beat,
  deleteOldOutages,
  deleteOldReplicas,
  findScheduling,
  listOutages,
  upsertBeat,
} from './store.ts';

const day = 86_400;

onPostgres((_name, open) => {
  beforeEach(async () => {
    await open().tx(async (tx) => {
      await sql`delete from replicas`.execute(tx);
      await sql`delete from scheduling_outages`.execute(tx);
    });
  });

  /** Writes a heartbeat of a replica, as if it were `seconds` from now. Returns that time. */
  const beat = (seconds: number, fields: Partial<Beat> = {}): Promise<number> =>
    later(open(), seconds, (tx) =>
      upsertBeat(tx, {
        id: newId(),
        name: 'a',
        roles: ['scheduler'],
        version: '1.0.0',
        clock_skew_ms: null,
        loops: [],
        scheduling: true,
        stopping: false,
        elapsed_ms: null,
        cause: null,
        telemetry_log: { id: newId(), bytes: 0 },
        ...fields,
      }),
    );
  const outages = async () =>
    (await open().run((r) => listOutages(r, new Date(0), new Date('2100-01-01'), 10))).map(
      ({ from_at, to_at, cause }) => [from_at.getTime(), to_at.getTime(), cause],
    );

  it('the first replica that schedules again writes from when to when none did, and how the last one had ended', async () => {
    const [a, b] = [newId(), newId()];
    await beat(0, { id: a });
    const stopped = await beat(10, { id: a, stopping: true });
    const back = await beat(250, { id: b });
    await beat(251, { id: newId() });
    await beat(255, { id: b, elapsed_ms: 5_000, cause: 'stalled' });
    const lost = await beat(260, { id: b, elapsed_ms: 5_000, cause: 'stalled' });
    const again = await beat(2_000);
    expect(await outages()).toEqual([
      [stopped, back, 'stopped'],
      [lost, again, 'lost'],
    ]);
  });

  it('a missed heartbeat or two is no outage, nor is one of a replica that does not schedule', async () => {
    await beat(0);
    await beat(14);
    await beat(1_000, { scheduling: false });
    expect(await outages()).toEqual([]);
  });

  it.each([
    [{ elapsed_ms: 90_000, cause: 'database' }, 'database'],
    [{ elapsed_ms: 90_000, cause: 'firing' }, 'firing'],
    [{ elapsed_ms: 85_000, cause: 'stalled' }, 'stalled'],
    [{ elapsed_ms: 5_000, cause: 'stalled' }, 'clock'],
    [{ elapsed_ms: null, cause: 'firing' }, 'firing'],
  ] as const)('a replica that was running writes %j as %s', async (since, cause) => {
    const id = newId();
    await beat(0, { id });
    // Another one was seen last: it does not know why.
    await beat(1);
    await beat(90, { id, ...since });
    expect((await outages()).map(([, , why]) => why)).toEqual([cause]);
  });

  it('what is ahead of the clock, after it was set back, does not hide the next outage', async () => {
    await beat(30 * day);
    const before = await beat(0);
    const back = await beat(600);
    expect(await outages()).toEqual([[before, back, 'lost']]);
  });

  it('says whether a replica is scheduling, and when one last was', async () => {
    const find = (seconds: number) => later(open(), seconds, findScheduling);
    expect(await find(0)).toMatchObject({ alive: false, last_at: null });
    const at = await beat(0);
    expect(await find(10)).toMatchObject({ alive: true, last_at: new Date(at) });
    const silent = await find(20);
    expect(silent).toMatchObject({ alive: false, last_at: new Date(at) });
    expect(silent.known_from.getTime()).toBeLessThan(silent.now.getTime());
  });

  it('lists the outages that overlap a span', async () => {
    await beat(0);
    await beat(100);
    await beat(200);
    await beat(300);
    const all = await outages();
    const [from, to] = [Number(all[1]![0]), Number(all[1]![1])];
    const within = await open().run((r) => listOutages(r, new Date(from + 1), new Date(to - 1), 10));
    expect(within.map(({ from_at }) => from_at.getTime())).toEqual([from]);
    expect((await open().run((r) => listOutages(r, new Date(0), new Date(to), 1))).length).toBe(1);
  });

  it('forgets replicas after a week, but not when one was last scheduling; and outages with the occurrences', async () => {
    const id = newId();
    await beat(-10 * day, { id });
    await beat(-20 * day);
    await beat(-9 * day, { scheduling: false });
    expect(await open().tx((tx) => deleteOldReplicas(tx, 10))).toBe(2);
    await beat(0);
    expect(await open().tx((tx) => deleteOldReplicas(tx, 10))).toBe(1);
    const [outage] = await outages();
    expect(outage![2]).toBe('lost');
    expect(await open().tx((tx) => deleteOldOutages(tx, 0, 10))).toBe(0);
    expect(await later(open(), 80 * day, (tx) => deleteOldOutages(tx, 90, 10))).toBe(0);
    expect(await later(open(), 91 * day, (tx) => deleteOldOutages(tx, 90, 10))).toBe(1);
  });

  it('the heartbeat of a replica says what it is and what its loops do, until it has stopped', async () => {
    let firing: LoopPass = { name: 'firing', idle_ms: 3, error: 'no' };
    const telemetryLog = { id: newId(), bytes: 5_000_000_000 };
    const heartbeat = new Heartbeat({
      db: open(),
      log: silentLogger,
      clock: { now: () => Date.now() + 60_000 },
      roles: ['scheduler', 'api'],
      loops: () => [firing],
      firing: () => firing,
      telemetryLog: () => telemetryLog,
    });
    const row = async () =>
      (await open().run((r) => r.selectFrom('replicas').selectAll().execute())).find(
        (one) => one.id === heartbeat.id,
      );
    heartbeat.start();
    const first = await until(row);
    expect(first).toMatchObject({
      name: hostname(),
      roles: ['scheduler', 'api'],
      version,
      scheduling_at: null,
      stopped_at: null,
      loops: [firing],
      telemetry_log_id: telemetryLog.id,
      telemetry_log_bytes: telemetryLog.bytes,
    });
    // Its firing fails, so it looks again within a second.
    firing = { name: 'firing', idle_ms: 1, error: null };
    const second = await until(async () => {
      const one = await row();
      return one?.scheduling_at ? one : null;
    });
    expect(second.seen_at).toEqual(second.scheduling_at);
    expect(Math.abs(second.clock_skew_ms! - 60_000)).toBeLessThan(5_000);
    await heartbeat.stop();
    const last = (await row())!;
    expect(last.stopped_at).toEqual(last.seen_at);
    expect(last.stopped_at).toEqual(last.scheduling_at);
  });
});
