import { describe, expect, test } from 'vitest';
import { runLeases, runStop } from './scenarios/leases.ts';

// Concurrent, because both mostly wait.
describe.concurrent('a worker that is lost or stopped', () => {
  test('the items of a killed and of a stopped replica are completed by the other, exactly once', async () => {
    const { problems, takenOver } = await runLeases(['SIGSTOP', 'SIGKILL'], 4);
    expect(problems).toEqual([]);
    expect(takenOver).toBeGreaterThan(1);
  }, 400_000);

  test('SIGTERM ends with 0 within 20 s and releases what is in flight, without using an attempt', async () => {
    const { exit, milliseconds, row } = await runStop();
    expect(exit).toEqual({ code: 0, signal: null });
    expect(milliseconds).toBeLessThan(25_000);
    expect(row).toEqual({ status: 'PENDING', attempts: 0 });
  }, 400_000);
});
