import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadReport } from './client.ts';
import type { SinkCount, SinkState } from './sink.ts';

/** Sends a question to a child over its channel and resolves to the reply: one question at a time. */
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
    /** Throws if any response is not 200. */
    load: async (order: LoadOrder): Promise<LoadReport> => {
      const report = await ask<LoadReport>(child, order);
      if (report.error !== undefined) throw new Error(report.error);
      return report;
    },
    stop: () => child.disconnect(),
  };
};
export type Client = ReturnType<typeof startClient>;

/** What is not delivered after this is reported as not delivered. */
const deadlineMs = 40_000;

/** Without a request for this long, the target is done or waits. */
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
    /**
     * Waits until `spans` have arrived at each of `destinations`, or for `deadlineMs`. Resolves to how many arrived in
     * all, when the last one did, and whether that is everything.
     */
    received: async (spans: number, destinations: number) => {
      const deadline = performance.now() + deadlineMs;
      const at: Record<string, number> = {};
      let total = 0;
      for (;;) {
        await sleep(idleMs / 3);
        const { lastAt, requests } = await ask<SinkState>(child, 'state');
        const late = performance.now() > deadline;
        if (!late && (requests === 0 || Date.now() - lastAt < idleMs)) continue;
        for (const [path, n] of Object.entries((await count()).spans)) {
          at[path] = (at[path] ?? 0) + n;
          total += n;
        }
        const counts = Object.values(at);
        const complete = counts.length === destinations && counts.every((n) => n >= spans);
        if (complete || late) return { spans: total, lastAt, complete };
      }
    },
    stop: () => child.disconnect(),
  };
};
export type Sink = Awaited<ReturnType<typeof startSink>>;
