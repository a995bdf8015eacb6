import hooks from 'node:perf_hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { counter, createMetrics } from './metrics.ts';

test('the figures of the process are in the first read, with those of an event loop that was measured', async () => {
  const made = counter('made_total', 'Things made');
  made.inc(3);
  const { text } = await createMetrics([made]).read();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect(value('made_total')).toBe(3);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  for (const which of ['min', 'mean', 'p99']) {
    expect(value(`nodejs_eventloop_lag_${which}_seconds`)).toBeGreaterThan(0.005);
    expect(value(`nodejs_eventloop_lag_${which}_seconds`)).toBeLessThan(10);
  }
});

test('nothing measures the event loop before the first read', async () => {
  const measures = vi.spyOn(hooks, 'monitorEventLoopDelay');
  onTestFinished(() => measures.mockRestore());
  const metrics = createMetrics([]);
  expect(measures).not.toHaveBeenCalled();
  const reads = await Promise.all([metrics.read(), metrics.read()]);
  expect(measures).toHaveBeenCalledOnce();
  for (const { text } of reads) expect(text).toContain('nodejs_eventloop_lag_seconds');
});
