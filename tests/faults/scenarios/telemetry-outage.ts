import { readFile } from 'node:fs/promises';
import { spansNamed } from '../../../packages/otlp/tests/encode.ts';
import type { CountersByIntegration } from '../../harness/telemetry-server.ts';
import { until } from '../../harness/wait.ts';
import { inTelemetryProcess } from './telemetry-process.ts';
import { type CountingBackend, startCountingBackend } from './telemetry-tally.ts';

/** One step of the clock: a little less than an hour, so that none of 72 ends at the edge of the retention. */
const stepMs = 3_590_000;
const steps = 80;
const retentionSteps = 72;
const spansARequest = 500;
/** A span is about 2 KB. */
const padding = 1_900;
const spanBytes = 2_000;

export interface OutageReport {
  /** Spans accepted in each step of the clock. */
  spansAStep: number;
  /** At the end of the outage. */
  counters: CountersByIntegration;
  delivered: CountingBackend['kept'];
  outOfOrder: number;
  after: CountersByIntegration;
  backlogBytes: number;
  /** Resident memory in MB: after the first step, at most until the end of the outage, and at most of all. */
  memory: { first: number; outage: number; peak: number };
  seconds: number;
}

const memoryOf = async (pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024);
};

/**
 * A backend is away for 80 steps of the clock, about an hour each, while `megabytes` of spans come in; the retention is
 * 72 hours. Then it is back.
 */
export const runOutage = async (megabytes: number): Promise<OutageReport> => {
  const spansAStep = Math.ceil((megabytes * 1_000_000) / spanBytes / steps);
  await using backend = await startCountingBackend(undefined, (name) => Number(name.split('.')[0]));
  return await inTelemetryProcess({}, async (process_) => {
    const began = Date.now();
    await process_.send({ integrations: [{ number: 1, url: 'http://127.0.0.1:9' }] });
    const memory = { first: 0, outage: 0, peak: 0 };
    for (let step = 0; step < steps; step++) {
      for (let i = 0; i < spansAStep; i += spansARequest) {
        const count = Math.min(spansARequest, spansAStep - i);
        const response = await fetch(`http://127.0.0.1:${process_.port}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf' },
          body: new Uint8Array(spansNamed(`${step}.${i}`, count, 'agent', padding)),
        });
        await response.arrayBuffer();
        if (response.status !== 200) throw new Error(`status ${response.status}`);
      }
      await process_.send({ advanceMs: stepMs });
      const now = await memoryOf(process_.pid, 'VmRSS');
      if (step === 0) memory.first = now;
      memory.outage = Math.max(memory.outage, now);
    }
    // The last steps are within the retention.
    const old = (steps - retentionSteps) * spansAStep;
    const counters = await until(async () => {
      const now = await process_.send();
      return now[1]!.expired >= old && now;
    }, 30_000);
    await process_.send({ integrations: [{ number: 1, url: backend.url }] });
    let after = counters;
    for (let least = Number.POSITIVE_INFINITY; least > 0; ) {
      least = await until(
        async () => {
          after = await process_.send();
          return after[1]!.queued < least && { queued: after[1]!.queued };
        },
        30_000,
        100,
      ).then(({ queued }) => queued);
    }
    memory.peak = await memoryOf(process_.pid, 'VmHWM');
    return {
      spansAStep,
      counters,
      delivered: backend.kept,
      outOfOrder: backend.outOfOrder,
      after,
      backlogBytes: counters[1]!.backlog_bytes,
      memory,
      seconds: Math.round((Date.now() - began) / 1_000),
    };
  });
};
