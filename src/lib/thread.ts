import { Worker } from 'node:worker_threads';

/** Runs a module on a thread of its own, with `data` as its `workerData`. Resolves to the message that it posts. */
export const onThread = <T>(module: URL, data: unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(module, { workerData: data });
    thread.once('message', resolve);
    thread.once('error', reject);
  });
