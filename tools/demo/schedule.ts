import { setTimeout as sleep } from 'node:timers/promises';
import type { OtlpReceiver, ReceivedSpan } from '../../tests/harness/otlp-receiver.ts';
import { type Body, type DemoContext, must, type Part } from './part.ts';
import { color, print } from './terminal.ts';

const tree = (spans: ReceivedSpan[]): string[] => {
  const ids = new Set(spans.map((span) => span.spanId));
  const lines: string[] = [];
  const walk = (parent: ReceivedSpan | null, indent: string): void => {
    const children = spans
      .filter((span) => (parent ? span.parentSpanId === parent.spanId : !ids.has(span.parentSpanId)))
      .sort((a, b) => Number(a.startTimeUnixNano - b.startTimeUnixNano));
    children.forEach((span, i) => {
      const last = i === children.length - 1;
      const ms = Number(span.endTimeUnixNano - span.startTimeUnixNano) / 1e6;
      lines.push(`${indent}${last ? '└─' : '├─'} ${span.name} ${color(2, `${ms.toFixed(1)} ms`)}`);
      walk(span, `${indent}${last ? '   ' : '│  '}`);
    });
  };
  walk(null, '');
  return lines;
};

/** An agent with a schedule that is due every minute: each firing becomes a Work Item, whose trace is delivered. */
export const startSchedule = async (
  { api, app, url, key, signal }: DemoContext,
  receiver: OtlpReceiver,
): Promise<Part> => {
  await must(
    api.post('/observability/integrations', {
      version: '1',
      description: 'the receiver of this demo',
      settings: { provider: 'otlp_custom_headers', url: receiver.url },
    }),
  );
  print('backend', `traces go to ${receiver.url}`);
  const agent = await must(
    api.post('/agents', {
      name: 'Night clerk',
      mode: 'worker',
      instructions: 'Summarise what came in during the last minute.',
    }),
  );
  const schedule = await must(
    api.post(`/agents/${agent.id}/schedules`, {
      cron_expression: '* * * * *',
      work_item_name: 'Minute report',
      message: 'Write the report of the last minute.',
    }),
  );
  print('schedule', `\`* * * * *\` for the agent "${agent.name}", first due at ${schedule.next_run_at}`);
  const occurrences = `/agents/${agent.id}/schedules/${schedule.id}/occurrences`;
  console.log(`
  application  ${url}/    (sign in with the key)
  API          ${url}/api/v2    (described at GET ${url}/api/v2)
  key          ${key}

  curl -H 'Authorization: Bearer ${key}' ${url}/api/v2/work-items
  curl -H 'Authorization: Bearer ${key}' ${url}/app/api${occurrences}

  Ctrl-C ends the demo and deletes everything.
`);

  const shown = new Set<string>();
  const isNew = (id: string): boolean => !shown.has(id) && shown.add(id).has(id);

  const showFirings = async (): Promise<void> => {
    const page = await must(app.get(occurrences));
    for (const { scheduled_for, outcome, lateness_ms, work_item_id } of page.data.toReversed()) {
      if (!isNew(scheduled_for)) continue;
      print(
        'firing',
        `${scheduled_for} ${outcome}, ${lateness_ms} ms after its time → Work Item ${work_item_id}`,
      );
    }
  };
  let traces = 0;
  const showTrace = async (item: Body): Promise<void> => {
    const { trace_id } = await must(api.get(`/work-items/${item.id}/trace`));
    const until = Date.now() + 10_000;
    const delivered = () => receiver.spans().filter((span) => span.traceId === trace_id);
    const isComplete = () => delivered().some((span) => span.parentSpanId === '');
    while (!isComplete() && Date.now() < until && !signal.aborted) await sleep(20);
    print('trace', `${trace_id}: ${delivered().length} spans delivered`);
    for (const line of tree(delivered())) console.log(`${' '.repeat(25)}${line}`);
    traces++;
  };
  return {
    show: async () => {
      await showFirings();
      const page = await must(api.get(`/work-items?agent_id=${agent.id}`));
      for (const item of page.records.toReversed()) {
        if (!isNew(`${item.id} ${item.status}`)) continue;
        const isDone = item.status === 'COMPLETED';
        print('Work Item', `${item.id} is ${item.status}${isDone ? `: ${item.result.slice(0, 100)}` : ''}`);
        if (isDone) await showTrace(item);
      }
      return traces > 0;
    },
  };
};
