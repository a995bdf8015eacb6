import type { Format } from '../telemetry/bodies.ts';
import { startPlatform } from '../telemetry/platform.ts';
import { startClient, startSink } from '../telemetry/processes.ts';
import { peakOf } from '../telemetry/target.ts';
import { measure } from '../telemetry.ts';
import { less, type QuickRow } from './row.ts';

const cases: { spans: number; format: Format; gzip: boolean }[] = [
  { spans: 50, format: 'protobuf', gzip: false },
  { spans: 500, format: 'protobuf', gzip: false },
  { spans: 500, format: 'JSON', gzip: true },
  { spans: 500, format: 'JSON', gzip: false },
];

/** Receiving and delivering traces: CPU a span, acknowledgement at half of the peak, the most memory. */
export const telemetry = async (postgres: string): Promise<QuickRow[]> => {
  const sink = await startSink();
  const client = startClient();
  const target = await startPlatform(postgres, [sink.url(0)]);
  try {
    const rows: QuickRow[] = [];
    for (const one of cases) {
      const found = await measure(target, client, sink, { ...one, destinations: 1 });
      const name = `${one.format}${one.gzip ? ', gzip' : ''}, ${one.spans} spans`;
      rows.push(less(`traces, ${name}: CPU a span`, 'µs', found['CPU µs/span']));
      if (found.halfP99 !== null)
        rows.push(less(`traces, ${name}: acknowledged at half, p99`, 'ms', found.halfP99));
    }
    return [...rows, less('traces: most memory', 'MB', peakOf(target.pid))];
  } finally {
    await target.stop();
    client.stop();
    sink.stop();
  }
};
