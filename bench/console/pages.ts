import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import type { Seeded } from './seed.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** The Fast 4G of Chromium's developer tools: bytes a second, and milliseconds of latency. */
const fast4g = { offline: false, downloadThroughput: 1_012_500, uploadThroughput: 168_750, latency: 165 };
const cpuSlowdown = 4;

/** A page that shows its heading and has asked for nothing for this long is complete; polls are 3 s apart or more. */
const quietMs = 1_500;

const pathsOf = ({ agent, schedule, workItem }: Seeded): string[] => [
  '/',
  '/review',
  '/schedules',
  '/schedules?view=timeline',
  `/agents/${agent}/schedules/${schedule}`,
  '/schedules/new',
  '/work-items',
  `/work-items/${workItem}`,
  '/agents',
  `/agents/${agent}`,
  '/integrations',
  '/llm-configurations',
  '/tool-servers',
  '/api-keys',
  '/users',
  '/settings',
  '/audit',
  '/status',
];

/** Runs in the page before its own scripts: collects what the browser says of the loading. */
const observe = `window.loading = { lcp: 0, cls: 0, longest: 0 };
const see = (type, fn) => new PerformanceObserver((list) => list.getEntries().forEach(fn)).observe({ type, buffered: true });
see('largest-contentful-paint', (entry) => { loading.lcp = entry.startTime; });
see('layout-shift', (entry) => { if (!entry.hadRecentInput) loading.cls += entry.value; });
see('longtask', (entry) => { loading.longest = Math.max(loading.longest, entry.duration); });`;

interface Loading {
  lcp: number;
  cls: number;
  longest: number;
}

interface Visit extends Loading {
  files: number;
  bytes: number;
  apiRequests: number;
}

/** Launches the Chromium of the browser tests; null if the machine has none. */
export const launchChromium = async (): Promise<Browser | null> => {
  if (!existsSync(executablePath)) return null;
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
};

export const signedIn = async (
  browser: Browser,
  { url, key }: { url: string; key: string },
): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const session = await context.request.post(`${url}/app/api/sessions`, { data: { api_key: key } });
  if (!session.ok()) throw new Error(`no session: ${await session.text()}`);
  return context;
};

/** Opens a page with nothing cached and waits until it asks for nothing more. */
const visit = async (context: BrowserContext, url: string, throttled: boolean): Promise<Visit> => {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await page.addInitScript(observe);
  if (throttled) {
    await devtools.send('Network.emulateNetworkConditions', fast4g);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
  }
  const seen = { files: 0, bytes: 0, apiRequests: 0 };
  let lastRequest = performance.now();
  page.on('request', () => {
    lastRequest = performance.now();
  });
  devtools.on('Network.responseReceived', ({ response }) => {
    const { pathname } = new URL(response.url);
    if (/^\/(app\/)?api\//.test(pathname)) seen.apiRequests++;
    else seen.files++;
  });
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    seen.bytes += encodedDataLength;
  });
  await page.goto(url);
  // Nothing is looked for in the page while it loads: Playwright's script for it takes 70 ms of a slow main thread.
  const isQuiet = () => performance.now() - lastRequest >= quietMs;
  while (!isQuiet() || !(await page.evaluate(`document.querySelector('h1') !== null`)))
    await sleep(quietMs / 4);
  const loading = await page.evaluate<Loading>('loading');
  await page.close();
  return { ...seen, ...loading };
};

/** What each page loads and when it is there: once as it is, once like a phone in a train. */
export const measurePages = async (platform: { url: string; key: string }, seeded: Seeded): Promise<void> => {
  await using browser = await launchChromium();
  if (!browser) return console.log(`No Chromium at ${executablePath}: the pages are left out.`);
  const rows = [];
  for (const path of pathsOf(seeded)) {
    const measure = async (throttled: boolean): Promise<Visit> => {
      await using context = await signedIn(browser, platform);
      return await visit(context, platform.url + path, throttled);
    };
    const [near, far] = [await measure(false), await measure(true)];
    rows.push({
      page: path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…'),
      files: near.files,
      kB: (near.bytes / 1_000).toFixed(0),
      'API requests': near.apiRequests,
      'LCP ms': near.lcp.toFixed(0),
      'LCP ms, 4G, slow': far.lcp.toFixed(0),
      CLS: Math.max(near.cls, far.cls).toFixed(3),
      'longest task ms': near.longest.toFixed(0),
      slow: far.longest.toFixed(0),
    });
  }
  console.table(rows);
  console.log(
    'Goals: Overview 2 API requests, others at most 3; LCP 600 ms and 1,800 ms; CLS 0.05; no task over 200 ms.',
  );
};
