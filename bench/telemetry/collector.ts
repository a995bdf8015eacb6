import { runCollector } from '../../tests/harness/collector.ts';
import type { Target } from './target.ts';

/**
 * The OpenTelemetry Collector as the peer, configured to be as durable as possible: no batch processor (which would
 * respond with 200 before anything is stored), one exporter for each destination, each with a persistent queue that is
 * synced for every request before the response. It drops what a destination refuses for good, and by default what could
 * not be delivered for 5 minutes. `tuned`: gzip at level 1 instead of its default. Tried with release 0.162, built from
 * the receiver `otlp`, the exporter `otlphttp` and the extension `file_storage`.
 */
export const startCollector = async (
  binary: string,
  destinations: readonly string[],
  tuned: boolean,
): Promise<Target> => {
  const exporters = Object.fromEntries(
    destinations.map((traces_endpoint, i) => [
      `otlphttp/${i}`,
      {
        traces_endpoint,
        compression: 'gzip',
        ...(tuned ? { compression_params: { level: 1 } } : {}),
        sending_queue: { storage: 'file_storage', queue_size: 100_000 },
      },
    ]),
  );
  const { url, pid, stop } = await runCollector(binary, (directory) => ({
    exporters,
    extensions: { file_storage: { directory, fsync: true } },
  }));
  return {
    what: tuned ? 'Collector, gzip 1' : 'Collector',
    pid,
    url,
    headers: {},
    oneMainThread: false,
    stop,
  };
};
