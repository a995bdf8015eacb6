import { must } from '../faults/scenarios/fixture.ts';
import { until } from '../harness/wait.ts';
import type { TracedPlatform } from '../telemetry/fixture.ts';

/** Runs an agent once. Resolves, when the integration has delivered all spans, to the trace and the links to it. */
export const traceOfRun = async (
  platform: TracedPlatform,
  integration: string,
): Promise<{ traceId: string; links: string[] }> => {
  const agent = await must(platform.api.post('/agents', { name: 'Night clerk', mode: 'worker' }));
  const item = await must(
    platform.api.post('/work-items', { agent_id: agent.id, message: 'Count the boxes' }),
  );
  const trace = await until(async () => {
    const { body } = await platform.api.get(`/work-items/${item.id}`);
    if (body.status !== 'COMPLETED') return false;
    return (await platform.api.get(`/work-items/${item.id}/trace`)).body;
  }, 60_000);
  await platform.healthIs(integration, { queued: 0, rejected: 0, dead_lettered: 0 });
  return { traceId: trace.trace_id, links: trace.links.map(({ url }: { url: string }) => url) };
};
