import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type ClaimedWorkItem, createClient } from '../clients/typescript/src/index.ts';

/**
 * An external worker: it claims the Work Items of an agent with `execution: external`, one at a time, and finishes them.
 * docs/external-workers.md says how to start it. Environment: KEY (of a builder), AGENT_ID, PLATFORM_URL.
 */
const { KEY, AGENT_ID, PLATFORM_URL = 'http://127.0.0.1:8080' } = process.env;
if (!KEY || !AGENT_ID) throw new Error('Set KEY to an API key and AGENT_ID to the id of an external agent.');
const platform = createClient({ url: PLATFORM_URL, key: KEY });

const leaseSeconds = 30;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

/** Replace this with your own work. `signal` ends it: the worker stops, or a person cancelled the Work Item. */
const work = async ({ work_item }: ClaimedWorkItem, signal: AbortSignal): Promise<string> => {
  await sleep(100, undefined, { signal });
  return work_item.message.toUpperCase();
};

/** Keeps the lease until `done`. Aborts `cancel` when a cancel was requested or the lease is lost. */
const keepLease = async (
  record: ClaimedWorkItem,
  cancel: AbortController,
  done: AbortSignal,
): Promise<void> => {
  const path = { work_item_id: record.work_item.id };
  const body = { lease_token: record.lease_token };
  while (!done.aborted) {
    await sleep((leaseSeconds / 3) * 1_000, undefined, { signal: done }).catch(() => {});
    if (done.aborted) return;
    try {
      if ((await platform.heartbeatWorkItem({ path, body })).cancel_requested) cancel.abort();
    } catch (error) {
      // The lease went to another worker. After any other failure the next heartbeat may come in time.
      if (error instanceof ApiError && error.status === 412) cancel.abort();
    }
  }
};

const execute = async (record: ClaimedWorkItem): Promise<void> => {
  const cancel = new AbortController();
  const done = new AbortController();
  const beating = keepLease(record, cancel, done.signal);
  const token = { lease_token: record.lease_token };
  const body = await work(record, AbortSignal.any([stop.signal, cancel.signal])).then(
    (result) => ({
      ...token,
      outcome: 'COMPLETED' as const,
      result,
      messages: [{ role: 'assistant' as const, content: result }],
    }),
    (error: unknown) => {
      if (stop.signal.aborted) return { ...token, outcome: 'HANDED_BACK' as const };
      if (cancel.signal.aborted) return { ...token, outcome: 'CANCELLED' as const };
      return {
        ...token,
        outcome: 'RETRY' as const,
        error: { code: 'failed', message: String(error).slice(0, 2_000) },
      };
    },
  );
  done.abort();
  await beating;
  // Safe to repeat: the same finish again changes nothing.
  for (let tries = 0; tries < 5; tries++) {
    try {
      const { id, status } = await platform.finishWorkItem({
        path: { work_item_id: record.work_item.id },
        body,
      });
      return console.log(`${id} is ${status}`);
    } catch (error) {
      const lost = error instanceof ApiError && error.status === 412;
      if (lost) return console.log(`${record.work_item.id} went to another worker`);
      await sleep(1_000);
    }
  }
};

while (!stop.signal.aborted) {
  const body = { agent_ids: [AGENT_ID], wait_seconds: 30, lease_seconds: leaseSeconds, worker: 'example' };
  try {
    // Closing the connection claims nothing.
    const { records } = await platform.claimWorkItems({ body, signal: stop.signal });
    for (const record of records) await execute(record);
  } catch (error) {
    if (stop.signal.aborted) break;
    console.error(error);
    await sleep(1_000, undefined, { signal: stop.signal }).catch(() => {});
  }
}
