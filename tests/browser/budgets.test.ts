import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { describeInBrowser, detail } from './fixture.ts';
import { makePages } from './pages.ts';

/** A chunk or file in Vite's manifest; `imports` and `dynamicImports` are keys of others. */
interface ManifestEntry {
  file: string;
  isEntry?: boolean;
  isDynamicEntry?: boolean;
  css?: string[];
  imports?: string[];
  dynamicImports?: string[];
}

const dist = join(import.meta.dirname, '..', '..', 'console', 'dist');
const manifest: Record<string, ManifestEntry> = JSON.parse(
  readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'),
);
const kilobyte = 1_000;

const isCode = (file: string): boolean => ['.js', '.css'].includes(extname(file));

const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0);

/** The scripts and styles that a browser loads for an entry: its own, and those of what it imports statically. */
const closureOf = (key: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(key)) return new Set();
  seen.add(key);
  const { file, css = [], imports = [] } = manifest[key]!;
  return new Set([file, ...css, ...imports.flatMap((one) => [...closureOf(one, seen)])]);
};

const entries = Object.keys(manifest).filter((key) => manifest[key]!.isEntry);
const lazy = Object.keys(manifest).filter((key) => manifest[key]!.isDynamicEntry);
/** What index.html loads, wherever it is opened; the small script that sets the color scheme is one of it. */
const initial = new Set([
  ...entries.flatMap((key) => [...closureOf(key)]),
  ...[...readFileSync(join(dist, 'index.html'), 'utf8').matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)]
    .map(([, file]) => file!)
    .filter(isCode),
]);

/** Shows the figures with `vitest --reporter=verbose`, and in the message of a test that fails. */
const sizes = (files: Iterable<string>): string =>
  [...files].map((file) => `${file} ${(gzipBytes([file]) / kilobyte).toFixed(1)} kB`).join('\n');

test('every page loads at most 8 scripts and styles of 220 kB at first', () => {
  expect(entries).toEqual(['index.html']);
  expect(initial.size, sizes(initial)).toBeLessThanOrEqual(8);
  expect(gzipBytes(initial) / kilobyte, sizes(initial)).toBeLessThanOrEqual(220);
});

test('a further route loads at most 40 kB', () => {
  for (const key of lazy) {
    const more = [...closureOf(key)].filter((file) => !initial.has(file));
    expect(gzipBytes(more) / kilobyte, `${key}\n${sizes(more)}`).toBeLessThanOrEqual(40);
  }
});

test('the whole application has at most 700 kB', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (file) => extname(file) !== '' && !/\.(br|gz)$|^\./.test(file),
  );
  expect(gzipBytes(files) / kilobyte, sizes(files)).toBeLessThanOrEqual(700);
});

test('no script or style is inline, nothing is loaded from elsewhere, and the page has a place for its nonce', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  expect(html).toContain('<meta name="csp-nonce" content="__CSP_NONCE__"');
  expect(html).not.toMatch(/<style|style="|<script(?![^>]* src="\/assets\/)|https?:\/\/|unsafe-/);
});

test('the largest files are asked for first, each runs when it is there, and one file has the styles of kit and frame', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const loaded = [
    ...html.matchAll(/<(?:link|script)([^>]*)(?:src|href)="\/assets\/([\w-]+?)-[\w-]{8}\.(\w+)"/g),
  ].map(([, attributes, name, end]) => `${name}.${end}${attributes!.includes(' async') ? ' async' : ''}`);
  expect(loaded.slice(0, 3)).toEqual(['scheme.js', 'kit.js', 'react.js']);
  expect(loaded.slice(-3)).toEqual(['geist-latin-wght-normal.woff2', 'kit.js async', 'react.js async']);
  expect(loaded.filter((name) => name.endsWith('.css'))).toEqual(['kit.css']);
  const styles = readFileSync(join(dist, /assets\/kit-[\w-]{8}\.css/.exec(html)![0]), 'utf8');
  // The typefaces are of the frame.
  expect(styles).toContain('@font-face');
});

describeInBrowser('the requests of a complete page', (at) => {
  detail('are two for the Overview and at most three for any other', { timeout: 240_000 }, async () => {
    const pages = await makePages(at());
    const context = (await at().open('/')).context();
    const requestsOf = async (path: string): Promise<string[]> => {
      const page = await context.newPage();
      const asked: string[] = [];
      page.on('request', (request) => {
        const { pathname, search } = new URL(request.url());
        if (/^\/(app\/)?api\//.test(pathname)) asked.push(pathname + search);
      });
      await page.goto(at().test.origin + path, { waitUntil: 'networkidle' });
      // On a slow machine the code of the page takes longer than the network counts as idle.
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
      await page.waitForLoadState('networkidle');
      await page.close();
      return asked;
    };
    expect(await requestsOf('/')).toHaveLength(2);
    // What is asked for early is what the page asks for: else a list would make two requests.
    const lists = [
      ...['/review', '/agents', '/integrations', '/llm-configurations', '/tool-servers', '/data-connections'],
      ...['/alerts', '/channels'],
      ...['/extractions', '/api-keys', '/users', '/branding', '/agents?mode=worker'],
    ];
    // One after the other: a page that waits for others asks again.
    for (const path of lists) expect(await requestsOf(path), path).toHaveLength(1);
    const paths = [
      ...pages.filter((path) => !lists.includes(path)),
      ...['/schedules?sort=name&state=paused', '/work-items?status=ERROR&q=x'],
    ];
    for (let i = 0; i < paths.length; i += 6) {
      await Promise.all(
        paths.slice(i, i + 6).map(async (path) => {
          const asked = await requestsOf(path);
          // The short address of a trigger first asks whose it is.
          const most = path.startsWith('/triggers/') ? 4 : 3;
          expect(asked.length, `${path}: ${asked.join(', ')}`).toBeLessThanOrEqual(most);
          expect(new Set(asked).size, `${path}: ${asked.join(', ')}`).toBe(asked.length);
        }),
      );
    }
  });

  test('begin while the code of the page is on its way', async () => {
    const page = await (await at().open('/')).context().newPage();
    const asked = page.waitForRequest(/\/app\/api\/schedules\?/);
    await page.route(/\/assets\/SchedulesPage-.*\.js$/, async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${at().test.origin}/schedules`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.close();
  });
});
