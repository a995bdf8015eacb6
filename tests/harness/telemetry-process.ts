/**
 * The telemetry path in a process that tests kill: `node telemetry-process.ts DIRECTORY GENERATION URL…`.
 * Sends itself requests of one agent as fast as they are acknowledged and prints the prefix of each acknowledged
 * one on a line; with generation `drain` it only delivers, and prints the accounts when nothing is queued.
 */
import { writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createTelemetry, type Destination } from '../../src/telemetry/index.ts';
import { spansNamed } from './otlp-encode.ts';

const [directory, generation, ...urls] = process.argv.slice(2) as [string, string, ...string[]];
const destinations: Destination[] = urls.map((url, i) => ({
  number: i + 1,
  id: `integration-${i + 1}`,
  provider: 'otlp_custom_headers',
  url,
  headers: [],
  enabled: true,
  revision: 1,
}));
const numbers = destinations.map(({ number }) => number);
const telemetry = await createTelemetry({
  directory,
  destinations: {
    table: () => ({ forAgent: () => numbers }),
    get: (number) => destinations[number - 1],
    all: () => destinations,
    onChange: () => () => {},
  },
  settings: { retentionHours: () => 72, retentionMegabytes: () => 10_240 },
  egress: createEgress({ deny: [] }),
  log: silentLogger,
  segmentBytes: 20_000,
});
telemetry.start();
writeSync(1, 'ready\n');

if (generation === 'drain') {
  for (;;) {
    const accounts = telemetry.accounts();
    if (accounts.every(({ totals }) => totals.queued === 0)) {
      const letters = await Promise.all(
        numbers.map((n) => telemetry.deadLetters.list(n, { limit: 1_000_000 })),
      );
      writeSync(1, `${JSON.stringify({ accounts, letters: letters.map((list) => list.length) })}\n`);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await telemetry.stop();
} else {
  const client = async (name: string): Promise<void> => {
    for (let i = 0; ; i++) {
      const prefix = `${generation}.${name}.${i}`;
      const answer = await telemetry.receiver.receive({
        contentType: 'application/x-protobuf',
        // One in four is large enough to be stored and forwarded as it came.
        ...(i % 4 === 3
          ? { contentEncoding: 'gzip', body: gzipSync(spansNamed(prefix, 3, 'agent', 180_000), { level: 1 }) }
          : { contentEncoding: undefined, body: spansNamed(prefix, 3, 'agent', 200) }),
      });
      if (answer.status === 200) writeSync(1, `${prefix}\n`);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(client));
}
