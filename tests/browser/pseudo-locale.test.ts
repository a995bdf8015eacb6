import { expect } from 'vitest';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';
import { makePages } from './pages.ts';

/**
 * Runs in the page: the buttons, links, tabs and headings whose words are cut, as lines. What can be scrolled sideways is
 * not; neither is a name of many lines that a row cuts on purpose.
 */
const cut = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => {
    for (let each = element.parentElement; each; each = each.parentElement) {
      if (/(auto|scroll)/.test(getComputedStyle(each).overflowX)) return true;
    }
    return false;
  };
  const found = [];
  for (const element of document.querySelectorAll('button, a, [role=tab], label, h1, h2, th')) {
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || box.width < 2) continue;
    const say = (what) => found.push(what + ': ' + (element.getAttribute('aria-label') ?? element.textContent).trim());
    if (!scrolls(element) && (box.left < -1 || box.right > width + 1)) say('outside');
    const words = document.createRange();
    words.selectNodeContents(element);
    if (element.tagName === 'BUTTON' && words.getBoundingClientRect().right > box.right + 2) say('too long');
    const inside = [element, ...element.querySelectorAll('*:not(svg, svg *)')];
    const hides = (each) =>
      each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1 &&
      /hidden|clip/.test(getComputedStyle(each).overflowX);
    if (element.tagName === 'BUTTON' && inside.some(hides)) say('hidden');
  }
  return found;
})()`;

describeInBrowser('texts that are 40 % longer, on a phone', (at) => {
  detail('no button is cut on any page', async () => {
    const paths = await makePages(at());
    const page = await at().open('/sign-in', { width: 360 });
    await page.evaluate(`localStorage.setItem('pseudo', '1')`);
    await page.goto(`${at().test.origin}/`);
    const found: string[] = [];
    for (const path of paths) {
      await visit(page, path);
      await page.waitForLoadState('networkidle');
      await page.locator('h1').first().waitFor();
      expect(await page.locator('h1').first().textContent(), path).toBeTruthy();
      for (const line of await page.evaluate<string[]>(cut)) found.push(`${path} ${line}`);
      // What the page has not laid out yet may be wider for a moment.
      const sideways = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
      await expect.poll(sideways, { message: `${path}: pixels to scroll sideways` }).toBeLessThanOrEqual(0);
    }
    expect(found).toEqual([]);
    for (const [path, button] of [
      ['/api-keys', 'Néw ÁPÍ kéy'],
      ['/users', 'Ínvíté úsér'],
      ['/role-mappings', 'Néw rólé máppíng'],
    ] as const) {
      await visit(page, path);
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      expect(await page.evaluate<string[]>(cut), button).toEqual([]);
      await expectAccessible(page, [{ scheme: 'light', width: 360 }]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
  });
});
