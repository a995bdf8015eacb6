import { passed } from '@agent-platform/otlp/log';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startDelivery } from '../../../tests/harness/delivery.ts';
import { type Behaviour, startOtlpReceiver } from '../../../tests/harness/otlp-receiver.ts';
import { names } from '../../../tests/harness/telemetry.ts';
import { until } from '../../../tests/harness/wait.ts';

/** More by hand: `DELIVERY_RUNS=500`. */
const numRuns = Number(process.env.DELIVERY_RUNS ?? 6);
/** The maximum of requests in flight (concurrency.ts). */
const widest = 16;

/** Long enough for every response on a slow machine: one that came too late would rightly be a duplicate. */
const timeoutMs = 700;

/** Responses of a backend to a request without a bad span. */
const responses = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.constant<Behaviour>({}) },
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 15 }).map((delayMs): Behaviour => ({ delayMs })) },
    { weight: 1, arbitrary: fc.constantFrom<Behaviour>({ status: 500 }, { drop: true }, { status: 408 }) },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 0, max: 100 })
        .map((seconds): Behaviour => ({ status: 429, headers: { 'retry-after': `${seconds}` } })),
    },
    { weight: 1, arbitrary: fc.constant<Behaviour>({ status: 401 }) },
    {
      weight: 1,
      arbitrary: fc.constant<Behaviour>({ partialSuccess: { rejectedSpans: 1, errorMessage: 'one' } }),
    },
  ),
  { minLength: 20, maxLength: 60 },
);
/** Spans of each record, and which of them the backend refuses alone. */
const records = fc.array(
  fc.record({
    spans: fc.integer({ min: 1, max: 6 }),
    bad: fc.oneof({ weight: 15, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(5) }),
  }),
  { minLength: 40, maxLength: 120 },
);

test(
  'whatever a backend responds, every span ends in exactly one count, in order, and none is accepted twice',
  async () => {
    let widestSeen = 0;
    await fc.assert(
      fc.asyncProperty(
        records,
        responses,
        fc.nat(100),
        fc.nat(200),
        fc.boolean(),
        async (given, script, editAt, hangAt, expire) => {
          await using backend = await startOtlpReceiver();
          await using fixture = await startDelivery({ requestTimeoutMs: timeoutMs, segmentBytes: 3_000 });
          const bad = new Set(given.flatMap(({ bad }, i) => (bad === null ? [] : [`${i}-${bad}`])));
          const order = given.flatMap(({ spans }, i) => Array.from({ length: spans }, (_, k) => `${i}-${k}`));
          let rejected = 0;
          backend.respondWith((request, index) => {
            const present = backend.requests.filter(
              ({ status, at }) => status === null && Date.now() - at < timeoutMs,
            ).length;
            widestSeen = Math.max(widestSeen, present);
            expect(present).toBeLessThanOrEqual(widest + 1);
            if (request.spans.length > 4) return 413;
            if (request.spans.some(({ name }) => bad.has(name))) return index % 2 ? 400 : 422;
            // The script once, and then the backend is healthy.
            if (index === hangAt) return { hang: true };
            const response = script[index] ?? {};
            if (response.partialSuccess) rejected++;
            return response;
          });
          fixture.destinations.set(1, backend.url);
          fixture.delivery.start();
          for (const [i, { spans }] of given.entries()) {
            await fixture.append(String(i), spans);
            fixture.later(200);
            if (i === editAt) fixture.destinations.set(1, backend.url);
            if (expire && i === 60) await fixture.telemetryLog.expire(fixture.clock.now() - 2_000, 1e9);
          }
          await until(
            () => {
              fixture.later(20_000);
              return fixture.telemetryLog.counters(1).queued === 0;
            },
            15_000,
            3,
          );
          const totals = fixture.telemetryLog.counters(1);
          expect(passed(totals)).toBe(order.length);
          const ok = backend.requests.filter(({ status }) => status === 200);
          const accepted = names(ok);
          expect(accepted.length).toBe(new Set(accepted).size);
          const letters = await fixture.delivery.deadLetters.list(1, { limit: 1_000 });
          expect(letters).toHaveLength(totals.dead_lettered);
          for (const { id } of letters) expect(bad).toContain(order[Number(id)]);
          const lost = order.filter((name) => !bad.has(name) && !accepted.includes(name));
          if (totals.expired === 0) {
            expect(lost).toEqual([]);
            expect(totals.rejected).toBe(rejected);
            expect(totals.dead_lettered).toBe(order.filter((name) => bad.has(name)).length);
            expect(totals.delivered + totals.rejected).toBe(accepted.length);
          } else expect(lost.length).toBeLessThanOrEqual(totals.expired);
          // A span is first sent when all spans before it were, except those of the window.
          const firsts = [...new Set(names(backend.requests).map((name) => Number(name.split('-')[0])))];
          for (const [place, record] of firsts.entries()) {
            const later = firsts.slice(0, place).filter((one) => one > record);
            expect(later.length).toBeLessThan(widest);
          }
        },
      ),
      { numRuns, endOnFailure: true },
    );
    // The property proves little if requests were never concurrent; few runs on a busy machine may miss it.
    if (numRuns >= 50) expect(widestSeen).toBeGreaterThan(2);
  },
  60_000 + numRuns * 10_000,
);
