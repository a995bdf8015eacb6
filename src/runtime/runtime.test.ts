import { expect, test } from 'vitest';
import { noAccounts } from '../../tests/harness/accounts.ts';
import { onPostgres } from '../../tests/harness/database.ts';
import { silentModels, testFeatures } from '../../tests/harness/features.ts';
import { becomes, makeAgent, makeItem, Recorder } from '../../tests/harness/runtime.ts';
import { testServices } from '../../tests/harness/services.ts';
import { createDataFrames } from '../data-frames/index.ts';
import { createFiles } from '../files/index.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createLlmConfigurations } from '../llm-configurations/index.ts';
import { createSandbox } from '../sandbox/index.ts';
import { createRuntime } from './index.ts';

onPostgres((_name, open) => {
  test('the runtime counts the ends of runs by status; the statuses that are watched begin at 0', async () => {
    const services = testServices(open());
    const { workItems } = testFeatures(services);
    const files = createFiles(services, { owners: [] });
    const sandbox = createSandbox(services);
    const runtime = createRuntime(services, {
      accounts: noAccounts,
      files,
      dataFrames: createDataFrames(services, {
        files,
        sandbox,
        owners: [],
        lockTrial: async () => {},
        models: { ask: () => Promise.reject(new Error('not asked')), isGivenTo: async () => false },
      }),
      documents: { read: () => Promise.reject(), extract: () => Promise.reject() },
      onFinished: workItems.onFinished,
      toolServers: { open: async () => ({ tools: [], withheld: [], [Symbol.asyncDispose]: async () => {} }) },
      modelTools: () => [],
      llms: createLlmConfigurations(services, { models: silentModels }),
      telemetry: { tracing: new Recorder(), flush: async () => {} },
    });
    const counts = async () => {
      const { text } = await createMetrics(workItems.metrics!).read();
      const lines = text.matchAll(/^agent_platform_work_items_finished_total\{status="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, status, n]) => [status, Number(n)]));
    };
    const none = { COMPLETED: 0, NEEDS_REVIEW: 0, INDETERMINATE: 0, ERROR: 0, CANCELLED: 0 };
    expect(await counts()).toEqual(none);
    await runtime.start!();
    const [loop] = runtime.loops!;
    expect(loop!.role).toBe('worker');
    loop!.start();
    try {
      const { id } = await makeItem(open(), await makeAgent(open()));
      await becomes(open(), id, 'COMPLETED');
      await expect.poll(counts).toEqual({ ...none, COMPLETED: 1 });
    } finally {
      await loop!.stop();
    }
  });
});
