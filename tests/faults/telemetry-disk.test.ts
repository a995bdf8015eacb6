import { describe, expect, test } from 'vitest';
import {
  type DiskReport,
  mountSmallDisk,
  runDiskFull,
  runLetterWithoutRoom,
} from './scenarios/telemetry-disk.ts';

const probe = await mountSmallDisk();
await probe?.[Symbol.asyncDispose]();
const why = probe === null ? ' (skipped: this process may not mount a small disk)' : '';

const checkFull = ({ refusal, ...report }: DiskReport): void => {
  for (const one of [refusal, report.refusalByBallast]) {
    expect(one).toMatchObject({ status: 503, retryAfter: '10' });
    expect(one.body).toContain('the disk of the telemetry log is full');
  }
  expect(report.beforeFull).toBeGreaterThan(2_000);
  // What was refused is not there, what was acknowledged is, after a SIGKILL and a start on the full disk.
  expect(report.restarted[1]).toMatchObject({ queued: report.beforeFull, discarded: 0 });
  expect(report.whileFull[1]).toMatchObject({ delivered: report.beforeFull, queued: 0 });
  expect(report.lost).toEqual([]);
  expect(report.kept).toMatchObject({ spans: report.acknowledged, unique: report.acknowledged });
  expect(report.accounts[1]).toMatchObject({
    delivered: report.acknowledged,
    queued: 0,
    discarded: 0,
    expired: 0,
  });
};

describe.skipIf(probe === null)(`the disk of the telemetry log is full${why}`, { timeout: 180_000 }, () => {
  test('503 with Retry-After; delivery goes on, nothing acknowledged is lost, and requests are taken again by themselves', async () => {
    await using disk = await mountSmallDisk();
    checkFull(await runDiskFull(disk!.path));
  });

  test('so it is with small segments', async () => {
    await using disk = await mountSmallDisk();
    checkFull(await runDiskFull(disk!.path, 500_000));
  });

  test('a span that is refused while there is no room for its dead letter waits for it: nothing is lost or sent twice', async () => {
    await using disk = await mountSmallDisk();
    const { without, behind, kept } = await runLetterWithoutRoom(disk!.path);
    expect(without[1]).toMatchObject({ delivered: 257, dead_lettered: 0, queued: 493 });
    expect(behind[1]).toMatchObject({ delivered: 749, dead_lettered: 1, letters: 1, discarded: 0 });
    expect(kept).toMatchObject({ spans: 749, unique: 749 });
  });
});
