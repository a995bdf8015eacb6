import { expect } from 'vitest';
import type { DeliveryCounters } from '../src/log/counts.ts';
import type { NewDeadLetter } from '../src/log/dead-letter.ts';
import type { Batch, Slice, TelemetryLog } from '../src/log/log.ts';
import { decodeProtobuf } from './decode.ts';
import { spansNamed } from './encode.ts';

/** Spans `PREFIX-0`, `PREFIX-1`, … for the integrations `routes`, each with `padding` bytes more. */
export const slice = (prefix: string, spans: number, routes: number[], padding = 0): Slice => ({
  bytes: spansNamed(prefix, spans, undefined, padding),
  spans,
  routes,
});

/** Time at which the spans of `deadLetter` were refused, ms since 1970. */
export const refusedAt = Date.parse('2026-01-02T03:04:05.678Z');

export const deadLetter = (ordinal: number): NewDeadLetter => ({
  ordinal,
  at: new Date(refusedAt).toISOString(),
  status: 400,
  reason: 'no',
  span: Buffer.from(`span ${ordinal}`),
});

/** The names of a batch's spans, in order. */
export const namesIn = (batch: Batch | null): string[] =>
  (batch?.parts ?? []).flatMap(({ bytes }) => decodeProtobuf(bytes).map(({ name }) => name));

/** Reads and delivers everything. Resolves to the names of the spans. */
export const drain = async (log: TelemetryLog, number: number, maxBytes: number): Promise<string[]> => {
  const all: string[] = [];
  for (;;) {
    const batch = await log.read(number, maxBytes);
    if (batch === null) return all;
    all.push(...namesIn(batch));
    expect(await log.commit(batch, batch.spans, { delivered: batch.spans })).toBe(true);
  }
};

/** Every span that was accepted for an integration, wherever it is now. */
export const sum = (t: DeliveryCounters): number =>
  t.delivered + t.rejected + t.dead_lettered + t.expired + t.discarded + t.queued;
