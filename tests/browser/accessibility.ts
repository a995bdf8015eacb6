import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** One way in which a page looks. */
export interface Look {
  scheme: 'light' | 'dark';
  width: 360 | 1280;
}

export const wide: readonly Look[] = [{ scheme: 'light', width: 1280 }];
export const phone: readonly Look[] = [{ scheme: 'dark', width: 360 }];

/**
 * The looks that every page must have: both schemes and both widths once. What depends on a scheme (colors) does not
 * depend on the width, so the other two pairs would find nothing more, and each look costs a third of a second.
 */
export const looks: readonly Look[] = [...wide, ...phone];

const heights = { 360: 740, 1280: 800 };
export const viewport = (width: Look['width']) => ({ width, height: heights[width] });

/**
 * Runs in the page: waits until nothing moves any more. The page follows its scheme a frame later and may blend colors,
 * so the first frames do not count.
 */
const settle = `new Promise((done) => {
  let frames = 0;
  const moves = ({ playState, effect }) =>
    playState === 'running' && effect.getComputedTiming().iterations !== Infinity;
  const look = () => (++frames > 3 && !document.getAnimations().some(moves) ? done() : requestAnimationFrame(look));
  look();
})`;

/** Shows `page` in another look, without loading it again. */
export const showAs = async (page: Page, { scheme, width }: Look): Promise<void> => {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(viewport(width));
  await page.evaluate(settle);
};

const require = createRequire(import.meta.url);

/** The small file is half of the other one, and crosses two processes for each page that is loaded. */
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const currentLook = async (page: Page): Promise<Look> => ({
  scheme: (await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)) ? 'dark' : 'light',
  width: page.viewportSize()!.width as Look['width'],
});

/**
 * Runs in the page: what violates a level of WCAG that every page meets, as lines. Nothing is preloaded: that is for
 * rules about media and for styles of other origins, and pages have neither.
 */
const violations = `axe
  .run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'], preload: false,
    rules: { 'label-content-name-mismatch': { enabled: true } } })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + '\\n' + failureSummary)))`;

/** Runs in the page: how many pixels it can be scrolled sideways. */
const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/**
 * Expects no violation of WCAG 2.2 AA on `page` as it is now, in each of `as` (in the short run in the first one), and no
 * sideways scrolling. The page then looks as before. It needs the timers of the page: not between `page.clock.pauseAt` and `resume`.
 */
export const expectAccessible = async (page: Page, as: readonly Look[] = looks): Promise<void> => {
  const before = await currentLook(page);
  // Not by axe-core's adapter for Playwright: it loads axe again, and opens a second page, for each analysis, which takes
  // four times as long as the analysis.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe);
  for (const look of process.env.EVERY_BROWSER_TEST ? as : as.slice(0, 1)) {
    await showAs(page, look);
    const where = `${new URL(page.url()).pathname} ${look.scheme} ${look.width}`;
    const found = await page.evaluate<string[]>(violations);
    if (found.length > 0) throw new Error(`${where}: ${found.join('\n\n')}`);
    const pixels = await page.evaluate<number>(sideways);
    expect(pixels, `${where}: pixels to scroll sideways`).toBeLessThanOrEqual(0);
  }
  await showAs(page, before);
};
