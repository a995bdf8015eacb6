import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadReport } from './client.ts';
import type { SinkCount, SinkState } from './sink.ts';

/** Asks a child over its channel: one question at a time. */
const ask = <T>(child: ChildProcess, question: object | string): Promise<T> =>
  new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a helper of the benchmark ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
    child.send(question);
  });

/** The process that sends. */
export const startClient = () => {
  const child = fork(new URL('./client.ts', import.meta.url));
  return {
    /** Throws where anything but 200 was answered. */
    load: async (order: LoadOrder): Promise<LoadReport> => {
      const report = await ask<LoadReport>(child, order);
      if (report.error !== undefined) throw new Error(report.error);
      return report;
    },
    stop: () => child.disconnect(),
  };
};
export type Client = ReturnType<typeof startClient>;

/** No request for so long: whoever delivers is done, or waits. */
const idleMs = 300;

/** The process that is delivered to. */
export const startSink = async () => {
  const child = fork(new URL('./sink.ts', import.meta.url));
  const { port } = await new Promise<{ port: number }>((resolve) =>
    child.once('message', (message) => resolve(message as { port: number })),
  );
  const count = () => ask<SinkCount>(child, 'count');
  return {
    url: (i: number) => `http://127.0.0.1:${port}/${i}`,
    count,
    /** Waits until `spans` have come to each of `destinations`. Answers when the last came, and what came in all. */
    received: async (spans: number, destinations: number) => {
      const deadline = performance.now() + 120_000;
      const total = { spans: 0, bytes: 0, requests: 0 };
      const at: Record<string, number> = {};
      for (;;) {
        await sleep(idleMs / 3);
        const { lastAt, requests } = await ask<SinkState>(child, 'state');
        if (requests > 0 && Date.now() - lastAt >= idleMs) {
          const counted = await count();
          total.bytes += counted.bytes;
          total.requests += counted.requests;
          for (const [path, n] of Object.entries(counted.spans)) {
            at[path] = (at[path] ?? 0) + n;
            total.spans += n;
          }
          const counts = Object.values(at);
          if (counts.length === destinations && counts.every((n) => n >= spans)) return { ...total, lastAt };
        }
        if (performance.now() > deadline) {
          throw new Error(`of ${spans} spans for each destination came ${JSON.stringify(at)}`);
        }
      }
    },
    stop: () => child.disconnect(),
  };
};
export type Sink = Awaited<ReturnType<typeof startSink>>;
