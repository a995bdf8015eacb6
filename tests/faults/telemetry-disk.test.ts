import { describe, expect, test } from 'vitest';
import { skipNote } from '../harness/programs.ts';
import {
  type DiskReport,
  mountSmallDisk,
  runDeadLetterWithoutRoom,
  runDiskFull,
} from './scenarios/telemetry-disk.ts';

const probe = await mountSmallDisk();
await probe?.[Symbol.asyncDispose]();
const why = skipNote(probe === null ? 'this process may not mount a small disk' : null);

const checkFull = ({ refusal, ...report }: DiskReport): void => {
  for (const one of [refusal, report.refusalByBallast]) {
    expect(one).toMatchObject({ status: 503, retryAfter: '10' });
    expect(one.body).toContain('the disk of the telemetry log is full');
  }
  expect(report.beforeFull).toBeGreaterThan(2_000);
  // What was refused is not stored and what was acknowledged is, after a SIGKILL and a start on the full disk.
  expect(report.restarted[1]).toMatchObject({ queued: report.beforeFull, discarded: 0 });
  expect(report.whileFull[1]).toMatchObject({ delivered: report.beforeFull, queued: 0 });
  expect(report.lost).toEqual([]);
  expect(report.kept).toMatchObject({ spans: report.acknowledged, unique: report.acknowledged });
  expect(report.counters[1]).toMatchObject({
    delivered: report.acknowledged,
    queued: 0,
    discarded: 0,
    expired: 0,
  });
};

describe.skipIf(probe === null)(`the disk of the telemetry log is full${why}`, { timeout: 180_000 }, () => {
  test('503 with Retry-After; delivery continues, nothing acknowledged is lost, and requests are accepted again without help', async () => {
    await using disk = await mountSmallDisk();
    checkFull(await runDiskFull(disk!.path));
  });

  test('the same with small segments', async () => {
    await using disk = await mountSmallDisk();
    checkFull(await runDiskFull(disk!.path, 500_000));
  });

  test('a refused span waits until there is room for its dead letter: nothing is lost or sent twice', async () => {
    await using disk = await mountSmallDisk();
    const { without, behind, kept } = await runDeadLetterWithoutRoom(disk!.path);
    expect(without[1]).toMatchObject({ delivered: 257, dead_lettered: 0, queued: 493 });
    expect(behind[1]).toMatchObject({ delivered: 749, dead_lettered: 1, deadLetterFiles: 1, discarded: 0 });
    expect(kept).toMatchObject({ spans: 749, unique: 749 });
  });
});
