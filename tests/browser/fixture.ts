import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserContext, type Browser as Chromium, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Role } from '../../src/lib/principal.ts';
import { type Fixture, newKey, startFixture } from '../contract/fixture.ts';
import type { databases } from '../harness/database.ts';
import { adminKey } from '../harness/process.ts';
import { skipNote } from '../harness/programs.ts';
import { type Look, viewport } from './accessibility.ts';
import { collectFaults, unexpectedFaults } from './faults.ts';

export interface VisitOptions extends Partial<Look> {
  /** The role of who is signed in, `admin` unless given; null: no one is. */
  as?: Role | null;
  /** The time zone of the browser; `UTC` unless given. */
  zone?: string;
  /** Its language; `en-US` unless given. */
  locale?: string;
  /** Whether things move: false unless given, because a picture in motion has no fixed colors. */
  motion?: boolean;
  /** The time of the page's clock, which goes on from there. `page.clock` moves it, or lets it stand (`setFixedTime`). */
  now?: Date;
}

/** The platform under test, with pages in a real browser. */
export interface InBrowser extends Fixture {
  /** Opens `path` in a browser of its own, which has the cookie of the session, and nothing else, from before. */
  open(path: string, options?: VisitOptions): Promise<Page>;
  /** A key of `role`, the same each time. */
  keyOf(role: Role): Promise<string>;
}

const contextOptions = ({ zone, locale, scheme, motion, width }: VisitOptions) => ({
  timezoneId: zone ?? 'UTC',
  locale: locale ?? 'en-US',
  colorScheme: scheme ?? ('light' as const),
  reducedMotion: motion ? ('no-preference' as const) : ('reduce' as const),
  viewport: viewport(width ?? 1280),
});

/** Closes the contexts of a test. Returns the faults that it did not expect. */
const close = async (contexts: BrowserContext[], testName: string): Promise<string[]> => {
  for (const context of contexts) await savePictures(context, testName);
  const faults = contexts.flatMap(unexpectedFaults);
  await Promise.all(contexts.map((context) => context.close()));
  return faults;
};

/** With `SCREENSHOTS=folder`, each test leaves pictures of its pages as they were at its end. */
const savePictures = async (context: BrowserContext, testName: string): Promise<void> => {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  for (const [i, page] of context.pages().entries()) {
    const name = `${testName.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 120)}${i === 0 ? '' : `-${i}`}.png`;
    await page.screenshot({ path: join(folder, name), fullPage: true });
  }
};

/** A test of a detail of one page, which only `npm run test:browser:every` runs: a browser takes a quarter of the time of all tests. */
export const detail = (name: string, ...rest: [Run] | [options: { timeout: number }, Run]): void => {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  const reason = process.env.EVERY_BROWSER_TEST ? null : 'a detail, which `npm run test:browser:every` runs';
  test(`${name}${skipNote(reason)}`, { ...options, skip: reason !== null }, run);
};
type Run = () => Promise<void>;

/** Goes to `path` as a link does, which takes a tenth of the time of loading the application again. */
export const visit = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

/**
 * Runs a block of tests on one platform and the one Chromium of the run. A test fails if its pages break the content
 * security policy, write an error to the console, throw, or have a request that fails, unless it says so with
 * `expectFault`. Without a Chromium the block is skipped, with the reason in its name.
 */
export const describeInBrowser = (
  name: string,
  tests: (at: () => InBrowser) => void,
  {
    database = 'embedded',
    env = {},
  }: { database?: (typeof databases)[number]; env?: Record<string, string> } = {},
): void => {
  const endpoint = inject('chromium');
  describe.skipIf(!endpoint)(`${name}${skipNote(endpoint ? null : 'no Chromium')}`, () => {
    let browser: Chromium;
    let fixture: InBrowser;
    const contexts: BrowserContext[] = [];
    beforeAll(async () => {
      const [connected, started] = await Promise.all([
        chromium.connect(endpoint!),
        startFixture(database, env),
      ]);
      browser = connected;
      const keys = new Map<Role, Promise<string>>([['admin', Promise.resolve(adminKey)]]);
      const keyOf = (role: Role): Promise<string> => {
        const key = keys.get(role) ?? newKey(started, role).then(({ value }) => value as string);
        keys.set(role, key);
        return key;
      };
      const open = async (path: string, options: VisitOptions = {}): Promise<Page> => {
        const context = await browser.newContext(contextOptions(options));
        contexts.push(context);
        await collectFaults(context);
        const { as = 'admin', now } = options;
        if (as !== null) {
          const data = { api_key: await keyOf(as) };
          const session = await context.request.post(`${started.test.origin}/app/api/sessions`, { data });
          expect(session.status(), await session.text()).toBe(200);
        }
        const page = await context.newPage();
        page.setDefaultTimeout(20_000);
        if (now) await page.clock.install({ time: now });
        await page.goto(started.test.origin + path);
        return page;
      };
      fixture = { ...started, open, keyOf };
    });
    afterEach(async ({ task }) => expect(await close(contexts.splice(0), task.name)).toEqual([]));
    afterAll(async () => {
      await browser?.close();
      await fixture?.test.stop();
    });
    tests(() => fixture);
  });
};
