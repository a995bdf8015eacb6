import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { createLogger } from '../src/lib/log.ts';
import { startPlatform } from '../src/platform.ts';
import { client } from '../tests/harness/http.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../tests/harness/otlp-receiver.ts';

/**
 * A demo of what the platform does: a schedule is due every minute, each firing becomes one Work Item, the built-in
 * mock model executes it, and its trace reaches a trace receiver on this machine. Everything is set up through the API,
 * as a user would do it. `--once` ends after the first trace. Ctrl-C ends it, and everything is deleted.
 */
const once = process.argv.includes('--once');
const color = (code: number, text: string) => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);
const print = (what: string, text: string) =>
  console.log(`${color(2, new Date().toISOString().slice(11, 23))}  ${color(36, what.padEnd(10))} ${text}`);

const key = 'demo-key-of-the-administrator-0123456789';
const dataDir = mkdtempSync(join(tmpdir(), 'agent-platform-demo-'));
const receiver = await startOtlpReceiver();
const start = (port: string) =>
  startPlatform(readConfig({ PORT: port, DATA_DIR: dataDir, BOOTSTRAP_ADMIN_API_KEY: key }), {
    log: createLogger('warn', process.stdout.isTTY),
  });
const platform = await start(process.env.PORT ?? '8080').catch((error: Error) => {
  if (!error.message.includes('is taken')) throw error;
  print('start', 'port 8080 is taken; another port is used');
  return start('0');
});
const api = client(`${platform.url}/api/v2`, key);
const app = client(`${platform.url}/app/api`, key);

let ending = false;
const end = async (code: number): Promise<never> => {
  if (!ending) {
    ending = true;
    await platform.stop();
    await receiver.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exit(code);
};
process.on('SIGINT', () => void end(0));
process.on('SIGTERM', () => void end(0));

/**
 * Resolves to the body of a successful response. Any other response ends the demo with the error that a user would see.
 */
const must = async (
  response: Promise<{ status: number; body: unknown; text: string }>,
): Promise<Record<string, never>> => {
  const { status, body, text } = await response;
  if (status < 300) return body as Record<string, never>;
  console.error(`the demo failed: ${status} ${text}`);
  return end(1);
};

print('platform', `${platform.url}/api/v2 with embedded storage in ${dataDir}`);
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
console.log(`
  API     ${platform.url}/api/v2    (described at GET ${platform.url}/api/v2)
  key     ${key}

  curl -H 'Authorization: Bearer ${key}' ${platform.url}/api/v2/work-items
  curl -H 'Authorization: Bearer ${key}' ${platform.url}/app/api/agents/${agent.id}/schedules/${schedule.id}/occurrences
`);

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

const shown = new Set<string>();
const showFirings = async (): Promise<void> => {
  const page = await must(app.get(`/agents/${agent.id}/schedules/${schedule.id}/occurrences`));
  for (const o of [...(page.data as unknown as Record<string, never>[])].reverse()) {
    const id = `occurrence ${o.scheduled_for}`;
    if (shown.has(id)) continue;
    shown.add(id);
    print(
      'firing',
      `${o.scheduled_for} ${o.outcome}, ${o.lateness_ms} ms after its time → Work Item ${o.work_item_id}`,
    );
  }
};
let traces = 0;
const showWorkItems = async (): Promise<void> => {
  const page = await must(api.get(`/work-items?agent_id=${agent.id}`));
  for (const item of [...(page.records as unknown as Record<string, never>[])].reverse()) {
    const id = `${item.id} ${item.status}`;
    if (shown.has(id)) continue;
    shown.add(id);
    const text = typeof item.result === 'string' ? item.result : JSON.stringify(item.result);
    print(
      'Work Item',
      `${item.id} is ${item.status}${item.status === 'COMPLETED' ? `: ${text?.slice(0, 100)}` : ''}`,
    );
    if (item.status !== 'COMPLETED') continue;
    const { trace_id } = await must(api.get(`/work-items/${item.id}/trace`));
    const until = Date.now() + 10_000;
    const delivered = () => receiver.spans().filter((span) => span.traceId === trace_id);
    while (!delivered().some((span) => span.parentSpanId === '') && Date.now() < until) await sleep(20);
    print('trace', `${trace_id}: ${delivered().length} spans delivered`);
    for (const line of tree(delivered())) console.log(`${' '.repeat(25)}${line}`);
    traces++;
    if (traces === 1 && !once)
      print('next', 'call the addresses above, or wait for the next minute; Ctrl-C ends');
  }
};

while (!(once && traces > 0)) {
  await showFirings();
  await showWorkItems();
  await sleep(100);
}
await end(0);
