import { setTimeout as sleep } from 'node:timers/promises';
import { processMicros } from '../../tests/harness/proc.ts';
import { newClient } from './client.ts';
import { launchChromium, signedIn } from './pages.ts';

const consoles = Number(process.env.CONSOLES ?? 50);
const seconds = Number(process.env.CONSOLE_SECONDS ?? 60);
/** How long one page is watched to learn what it asks for while it is open. */
const watchedSeconds = 30;

/** What people have open, and how many of ten. */
const mix: [path: string, ofTen: number][] = [
  ['/', 6],
  ['/work-items', 2],
  ['/schedules', 2],
];

/** A request that an open page repeats: `at` seconds after it began to be watched. */
interface Asked {
  path: string;
  at: number;
}

/** What an open page asks for by itself, in the order in which it does. */
const watch = async (platform: { url: string; key: string }, path: string): Promise<Asked[] | null> => {
  await using browser = await launchChromium();
  if (!browser) return null;
  await using context = await signedIn(browser, platform);
  const page = await context.newPage();
  await page.goto(platform.url + path, { waitUntil: 'networkidle' });
  const begun = performance.now();
  const asked: Asked[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (/^\/(app\/)?api\//.test(pathname)) {
      asked.push({ path: pathname + search, at: (performance.now() - begun) / 1_000 });
    }
  });
  await sleep(watchedSeconds * 1_000);
  return asked;
};

/** Repeats what a page asks for, from a random place in it, with the ETags that it got. */
const imitate = async (platform: { url: string; key: string }, asked: Asked[], until: number) => {
  const client = await newClient(platform.url, platform.key);
  const etags = new Map<string, string>();
  const shift = Math.random() * watchedSeconds;
  const begun = performance.now();
  const counts = { requests: 0, unchanged: 0, failed: 0 };
  const times = asked.map(({ path, at }) => ({ path, at: (at + shift) % watchedSeconds }));
  for (let round = 0; performance.now() < until; round++) {
    for (const { path, at } of times.toSorted((a, b) => a.at - b.at)) {
      const due = begun + (round * watchedSeconds + at) * 1_000;
      if (due > until) break;
      await sleep(Math.max(0, due - performance.now()));
      const { status, etag } = await client.get(path, etags.get(path));
      if (etag) etags.set(path, etag);
      counts.requests++;
      if (status === 304) counts.unchanged++;
      else if (status !== 200) counts.failed++;
    }
    await sleep(
      Math.max(0, Math.min(until, begun + (round + 1) * watchedSeconds * 1_000) - performance.now()),
    );
  }
  return counts;
};

/** CPU seconds of the platform and of the database while `fn` runs. */
const cpuOf = async (pids: { platform: number; database: number }, fn: () => Promise<unknown>) => {
  const read = () => [processMicros(pids.platform) ?? Number.NaN, processMicros(pids.database) ?? Number.NaN];
  const before = read();
  await fn();
  const [platform, database] = read().map((micros, i) => (micros - before[i]!) / 1_000_000);
  return { platform: platform!, database: database! };
};

/**
 * What open consoles cost: each page is watched in a real browser, then as many clients as there are consoles repeat
 * what it asks for. The cost of a platform that no one looks at is subtracted.
 */
export const measureConsoles = async (
  platform: { url: string; key: string; pid: number },
  databasePid: number,
): Promise<void> => {
  const pages: { path: string; asked: Asked[]; clients: number }[] = [];
  for (const [path, ofTen] of mix) {
    const asked = await watch(platform, path);
    if (!asked) return console.log('No Chromium: the open consoles are left out.');
    pages.push({ path, asked, clients: Math.round((consoles * ofTen) / 10) });
  }
  const pids = { platform: platform.pid, database: databasePid };
  const idle = await cpuOf(pids, () => sleep(seconds * 1_000));
  const totals = { requests: 0, unchanged: 0, failed: 0 };
  const busy = await cpuOf(pids, async () => {
    const until = performance.now() + seconds * 1_000;
    const all = pages.flatMap(({ asked, clients }) =>
      Array.from({ length: clients }, () => imitate(platform, asked, until)),
    );
    for (const counts of await Promise.all(all)) {
      for (const name of ['requests', 'unchanged', 'failed'] as const) totals[name] += counts[name];
    }
  });
  const share = (part: 'platform' | 'database') =>
    `${(((busy[part] - idle[part]) / seconds) * 100).toFixed(1)} %`;
  console.table(
    pages.map(({ path, asked, clients }) => ({
      page: path,
      open: clients,
      'requests a minute': ((asked.length * 60) / watchedSeconds).toFixed(0),
      paths: [...new Set(asked.map((one) => one.path.split('?')[0]))].join(' '),
    })),
  );
  console.table([
    {
      consoles,
      seconds,
      'requests/s': (totals.requests / seconds).toFixed(1),
      unchanged: `${((totals.unchanged / Math.max(1, totals.requests)) * 100).toFixed(0)} %`,
      failed: totals.failed,
      'platform, of a core': share('platform'),
      'database, of a core': share('database'),
    },
  ]);
  console.log('Goal: 50 consoles cost the platform at most 5 % of a core.');
};
