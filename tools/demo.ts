import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { createLogger } from '../src/lib/log.ts';
import { type Platform, startPlatform } from '../src/platform.ts';
import { client } from '../tests/harness/http.ts';
import { startOtlpReceiver } from '../tests/harness/otlp-receiver.ts';
import { startSmtp } from '../tests/harness/smtp.ts';
import { startToolServer } from '../tests/harness/tool-server.ts';
import { payInvoice, startApproval } from './demo/approval.ts';
import { startData } from './demo/data.ts';
import { startMail } from './demo/mail.ts';
import type { DemoContext, Part } from './demo/part.ts';
import { startSchedule } from './demo/schedule.ts';
import { print } from './demo/terminal.ts';

/**
 * A demo of what the platform does, with the built-in mock model. A tool call waits until a person approves it. A
 * schedule is due every minute, each firing becomes one Work Item, and its trace reaches a trace receiver on this
 * machine. What waits and what fails is sent by e-mail, to a mail catcher. With `--data` an agent also answers from a
 * database, and an invoice is read. Everything is set up through the API, as a user would do it. `--once` approves the
 * call itself and ends after the first trace. Ctrl-C ends the demo, and everything is deleted.
 */
const once = process.argv.includes('--once');
const withData = process.argv.includes('--data');
/** The longest that `--once` may take: the schedule fires within a minute. */
const onceWithinMs = 120_000;
const key = 'demo-key-of-the-administrator-0123456789';

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());

const start = async (dataDir: string): Promise<Platform> => {
  const startOn = (port: string) =>
    startPlatform(readConfig({ PORT: port, DATA_DIR: dataDir, BOOTSTRAP_ADMIN_API_KEY: key }), {
      log: createLogger('warn', process.stdout.isTTY),
    });
  const port = process.env.PORT ?? '8080';
  return startOn(port).catch((error: Error) => {
    if (!error.message.includes('is taken')) throw error;
    print('start', `port ${port} is taken; another port is used`);
    return startOn('0');
  });
};

/** Shows all parts until the demo is ended, or with `--once` until each has shown its result. */
const run = async (dataDir: string): Promise<void> => {
  await using receiver = await startOtlpReceiver();
  await using toolServer = await startToolServer({ tools: [payInvoice] });
  await using catcher = await startSmtp();
  const platform = await start(dataDir);
  try {
    const { url } = platform;
    print('platform', `started; embedded storage in ${dataDir}`);
    const [api, app] = [client(`${url}/api/v2`, key), client(`${url}/app/api`, key)];
    const context: DemoContext = { api, app, url, key, once, signal: ending.signal };
    const mail = await startMail(context, catcher);
    const parts: Part[] = [
      mail,
      await startSchedule(context, receiver),
      await startApproval(context, toolServer, mail.isMailed),
    ];
    if (withData) parts.push(await startData(context, dataDir));
    const until = Date.now() + onceWithinMs;
    while (!ending.signal.aborted) {
      const done = [];
      for (const part of parts) done.push(await part.show());
      if (once && done.every(Boolean)) return;
      if (once && Date.now() > until) throw new Error(`not done within ${onceWithinMs / 1_000} s`);
      await sleep(100);
    }
  } finally {
    await platform.stop();
  }
};

const dataDir = mkdtempSync(join(tmpdir(), 'agent-platform-demo-'));
let code = 0;
try {
  await run(dataDir);
} catch (error) {
  console.error(`the demo failed: ${(error as Error).message}`);
  code = 1;
}
rmSync(dataDir, { recursive: true, force: true });
// A connection that a client keeps open does not hold the demo.
process.exit(code);
