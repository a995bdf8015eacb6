import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { startOtlpReceiver } from '../tests/harness/otlp-receiver.ts';
import { startToolServer } from '../tests/harness/tool-server.ts';
import { payInvoice } from './demo/approval.ts';
import { must } from './demo/part.ts';
import { type Night, startNight } from './pictures/night.ts';

/**
 * The pictures of the README: `node tools/pictures.ts` writes them to `docs/pictures` as WebP. The agents of the demo and
 * their colleagues work through one night, in which the platform is down for an hour. All of it is real: each mark is a
 * firing of the platform, at a time that was moved. It takes a minute and needs the Chromium of the browser tests.
 */
const folder = join(import.meta.dirname, '..', 'docs', 'pictures');
/** The README shows two of them in its first screens; a larger one would hold up its reader. */
const maxBytes = 150_000;
const size = { width: 1280, height: 650 };

const minute = 60_000;
const from = Date.UTC(2026, 10, 23, 18, 2);
const to = Date.UTC(2026, 10, 24, 6, 12);
const down = { from: Date.UTC(2026, 10, 24, 1, 7), to: Date.UTC(2026, 10, 24, 2, 12) };
const zone = 'Europe/Berlin';

const slowly = (delay_ms: number) => ({ mock: { delay_ms } });

/** Agents with their schedules: cron expression, name, message, payload. */
const agents = [
  {
    name: 'Night clerk',
    instructions: 'Summarise what came in.',
    schedules: [
      ['*/15 * * * *', 'Quarter-hour report', 'Write the report of the last 15 minutes.', slowly(350)],
    ],
  },
  {
    name: 'Invoice reader',
    instructions: 'Read the invoices that came in, and book them.',
    schedules: [
      ['10 * * * *', 'Read invoices', 'Read the invoices of the last hour.', slowly(600)],
      ['30 3 * * 2', 'Weekly totals', 'Add up the week.', slowly(200)],
    ],
  },
  {
    name: 'Stock watcher',
    instructions: 'Compare the stock with the orders.',
    schedules: [['*/30 6-22 * * *', 'Compare stock', 'Compare stock and orders.', slowly(250)]],
  },
  {
    name: 'Ledger check',
    instructions: 'Check that the books add up.',
    schedules: [
      [
        '30 2 * * *',
        'Check the ledger',
        'Check the ledger of yesterday.',
        { mock: { fail: 'The ledger is locked.' } },
      ],
    ],
  },
] as const;

/** Creates everything, as a user would. Returns the address of the schedule that the second picture shows. */
const setUp = async ({ api }: Night, receiverUrl: string, toolServerUrl: string): Promise<string> => {
  await must(
    api.post('/observability/integrations', {
      version: '1',
      description: 'Collector',
      settings: { provider: 'otlp_custom_headers', url: receiverUrl },
    }),
  );
  const server = await must(
    api.post('/tool-servers', { name: 'Payments', url: toolServerUrl, default_policy: 'require_approval' }),
  );
  let shown = '';
  for (const { name, instructions, schedules } of agents) {
    const agent = await must(api.post('/agents', { name, mode: 'worker', instructions }));
    for (const [cron_expression, work_item_name, message, payload] of schedules) {
      const schedule = await must(
        api.post(`/agents/${agent.id}/schedules`, {
          cron_expression,
          timezone: zone,
          work_item_name,
          message,
          payload,
        }),
      );
      if (shown === '') shown = `/agents/${agent.id}/schedules/${schedule.id}`;
    }
  }
  await must(
    api.post('/agents', {
      name: 'Cashier',
      mode: 'worker',
      instructions: 'Pay what is due.',
      tool_server_ids: [server.id],
    }),
  );
  return shown;
};

/** A Work Item whose tool call waits for a person. */
const askForApproval = async ({ api }: Night): Promise<void> => {
  const { data } = await must(api.get('/agents?limit=100'));
  const cashier = data.find(({ name }: { name: string }) => name === 'Cashier');
  await must(
    api.post('/work-items', {
      agent_id: cashier.id,
      name: 'Pay invoice 2026-0117',
      message: 'Pay the invoice 2026-0117.',
      payload: {
        mock: { steps: [{ tool: 'payments__pay_invoice', args: { invoice: '2026-0117', amount: 480 } }] },
      },
    }),
  );
};

/** Lets the night pass in steps of five minutes, a moment after each, with the hour that the platform is down. */
const pass = async (night: Night): Promise<void> => {
  const step = 5 * minute;
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    if (time > down.from && time < down.to) {
      await night.downUntil(down.to);
      time = Math.ceil(down.to / step) * step;
    }
    await night.moveTo(time + 40);
    if (time === Date.UTC(2026, 10, 24, 4, 40)) await askForApproval(night);
  }
  await night.moveTo(to);
};

const take = async (browser: Browser, night: Night, name: string, path: string): Promise<void> => {
  const context = await browser.newContext({
    viewport: size,
    timezoneId: zone,
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  await context.request.post(`${night.origin}/app/api/sessions`, { data: { api_key: night.key } });
  const page = await context.newPage();
  await page.clock.setFixedTime(new Date(to));
  await page.goto(night.origin + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length > maxBytes) throw new Error(`${name} has ${bytes.length} bytes, more than ${maxBytes}`);
  await writeFile(join(folder, `${name}.webp`), bytes);
  console.log(`docs/pictures/${name}.webp: ${bytes.length} bytes`);
  await context.close();
};

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(executablePath)) throw new Error(`no Chromium at ${executablePath}; CHROMIUM names another`);
await mkdir(folder, { recursive: true });
await using receiver = await startOtlpReceiver();
await using toolServer = await startToolServer({ tools: [payInvoice] });
await using night = await startNight(from);
const schedule = await setUp(night, receiver.url, toolServer.url);
await pass(night);
// Chromium has no sandbox for root.
const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  await take(browser, night, 'overview', '/');
  await take(browser, night, 'schedule', schedule);
} finally {
  await browser.close();
}
console.log(`${receiver.spans().length} spans were delivered`);
