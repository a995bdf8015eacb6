import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { until } from '../harness/wait.ts';
import { freePort, startWatchdog } from '../harness/watchdog.ts';

/**
 * The commands of the documents, as a stranger types them into one shell, on a platform that `npm start` started with its
 * defaults. Only ports, the key and what runs in a shell of its own are replaced.
 */

const root = join(import.meta.dirname, '../..');

/** The documents in their order, with the sections of those that are not run whole. */
const documents: [path: string, ...sections: string[]][] = [
  ['README.md', 'First steps with the API', 'Connect a tracing backend'],
  ['docs/first-hour.md'],
  ['docs/data.md'],
  ['docs/documents.md', 'Read one'],
  ['docs/external-workers.md', 'Try it'],
  ['docs/callbacks.md', 'Callbacks'],
  ['docs/tool-protocol.md', 'Connect a client in a minute'],
];

/** What a section must print, besides nothing that is an error. */
const printed: Record<string, RegExp[]> = {
  'First steps with the API': [
    /"dst":"overlap"/,
    /"status":"COMPLETED"/,
    /"role":"assistant"/,
    /"outcome":"manual"/,
  ],
  'Connect a tracing backend': [
    /"ok":true/,
    /"delivered":[1-9]/,
    /"url":"http:\/\/127\.0\.0\.1:16686\/trace\//,
  ],
  'A key for your team': [/"role":"builder".*"value":"ap_/],
  'Cron expressions': [/write `0 0 \* \* \*`/],
  'Pause and resume a schedule': [/"enabled":false/, /"enabled":true/],
  'A review by a person': [/"status":"NEEDS_REVIEW"/, /does not allow submit/, /"status":"PENDING"/],
  'An agent with a tool server': [
    /"The server has 2 tools\."/,
    /"pay_invoice|payments__pay_invoice"/,
    /Paid 48 for/,
  ],
  'A conversation': [/answer to: What time is it\?/, /event: run\.completed/],
  'A real model': [/"ok":false/, /"llm_id":"01980000-0000-7000-8000-000000000001"/],
  'Settings and the audit log': [/"CAPTURE_MESSAGE_CONTENT":true/, /"ok":true,"checked":/],
  Connect: [/\["orders",\["id","customer_id","ordered_on","amount"\]\]/, /"rows":\[\[1,1,"2026-01-01",20\]/],
  Ask: [/"sql": "SELECT/, /\[\["DE",61\],\["SE",60\]\]/],
  'Attach it to an agent': [/\["2026-01-01",638\.75\]/],
  'Give it a file': [/\[\["DE",7800\],\["SE",8200\]\]/, /^SE,4100\.00$/m],
  'Read one': [/"total":1234\.5/],
  'Try it': [/"result": "WRITE THIS LARGE"/],
  Callbacks: [/"secret":"whsec_/],
  'Connect a client in a minute': [/"result":.*"status\\":\\"COMPLETED/],
};

/** Sections that show a refusal. */
const refusals = ['Cron expressions', 'A review by a person'];

interface Block {
  section: string;
  code: string;
}

/** The `sh` blocks of a document, each with the heading above it. */
const blocksOf = ([path, ...sections]: (typeof documents)[number]): Block[] => {
  const blocks: Block[] = [];
  let section = '';
  const text = readFileSync(join(root, path), 'utf8');
  for (const [, heading, code] of text.matchAll(/^#+ (.*)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) section = heading;
    else if (sections.length === 0 || sections.includes(section)) blocks.push({ section, code: code! });
  }
  expect(blocks.length, path).toBeGreaterThan(0);
  return blocks;
};

let folder: string;
let platform: ChildProcess;
let started = '';
let port: number;
let watchdog: ReturnType<typeof startWatchdog>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-documents-'));
  watchdog = startWatchdog([folder]);
  // The folder of the project, but for its data.
  for (const name of [
    'bin',
    'console',
    'examples',
    'node_modules',
    'package.json',
    'packages',
    'src',
    'tools',
  ]) {
    await symlink(join(root, name), join(folder, name));
  }
  port = await freePort();
  const { PATH, HOME } = process.env;
  platform = spawn('npm', ['start'], {
    cwd: folder,
    env: { PATH, HOME, PORT: String(port) },
    detached: true,
  });
  watchdog.watch(platform.pid ?? null);
  for (const stream of [platform.stdout!, platform.stderr!]) stream.on('data', (chunk) => (started += chunk));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, 60_000);
});

afterAll(async () => {
  if (platform?.pid) process.kill(-platform.pid, 'SIGTERM');
  await until(
    () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => false,
        () => true,
      ),
    30_000,
  );
  watchdog.release();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

test('the commands of the README and of the first hours do what the documents say', async () => {
  await using receiver = await startOtlpReceiver();
  const toolPort = await freePort();
  const key = /shown this once: (ap_\w+)/.exec(started)![1]!;
  const address = `http://127.0.0.1:${port}`;
  const blocks = documents.flatMap(blocksOf).map(({ section, code }) => ({
    section,
    code: code
      .replaceAll(':8080', `:${port}`)
      .replaceAll(':4318', `:${receiver.port}`)
      .replaceAll(':9000', `:${toolPort}`)
      .replace('KEY=ap_...', `KEY=${key}`)
      // In another shell.
      .replace(
        /^npm run example:tool-server$/m,
        `PORT=${toolPort} npm run example:tool-server > tools.log 2>&1 &
until curl -s http://127.0.0.1:${toolPort} > /dev/null; do sleep 0.2; done`,
      )
      .replace(/^npm run example:external-worker$/m, `PLATFORM_URL=${address} $& > worker.log 2>&1 &`),
  }));
  const script = blocks.map(({ code }, index) => `echo; echo "=== ${index}"\n${code}`).join('\n');
  const { PATH, HOME } = process.env;
  const shell = spawn('bash', ['-eo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => shell.once('exit', resolve));
  // What it left in the background.
  process.kill(-shell.pid!, 'SIGKILL');
  expect(code, output.slice(-2_000)).toBe(0);

  const outputs = new Map<string, string>();
  for (const [, index, text] of output.matchAll(/^=== (\d+)\n([\s\S]*?)(?=^=== |(?![\s\S]))/gm)) {
    const { section } = blocks[Number(index)]!;
    outputs.set(section, (outputs.get(section) ?? '') + text);
  }
  expect(Object.keys(printed).filter((section) => !outputs.has(section))).toEqual([]);
  for (const [section, text] of outputs) {
    const errors = text.match(/"error":\{"error_id".*/g) ?? [];
    expect(errors, `${section}:\n${text}`).toHaveLength(refusals.includes(section) ? 1 : 0);
    for (const pattern of printed[section] ?? []) expect(text, section).toMatch(pattern);
  }
  expect(receiver.requests.length).toBeGreaterThan(0);
}, 300_000);
