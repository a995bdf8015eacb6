import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible } from './accessibility.ts';
import { expectFault, unexpectedFaults } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

const append = (page: Page, html: string): Promise<unknown> =>
  page.evaluate(
    `document.body.append(document.createRange().createContextualFragment(${JSON.stringify(html)}))`,
  );

describeInBrowser('a browser test', (at) => {
  test('fails for a violation of the policy, a missing file, an error that nothing catches or that is on the console', async () => {
    const page = await at().open('/');
    await append(page, '<script>1</script>');
    await append(page, '<style>p { margin: 0 }</style>');
    await append(page, '<img src="http://127.0.0.1:9/x.png" alt="x">');
    await append(page, '<img src="/assets/x.png" alt="x">');
    await append(page, '<form id="away" action="http://127.0.0.1:9/"></form>');
    await page.evaluate(`document.getElementById('away').submit()`);
    await page.evaluate(`setTimeout(() => { throw new Error('thrown') })`);
    await page.evaluate(`console.error('written')`);

    const caused = [
      /^CSP script-src-elem blocked inline/,
      /^CSP style-src-elem blocked inline/,
      /^CSP img-src blocked http:\/\/127/,
      /^CSP form-action blocked/,
      /^404 GET \/assets\/x\.png$/,
      /^exception .*thrown/,
      /^console written/,
    ];
    const found = () => unexpectedFaults(page.context());
    await expect.poll(() => caused.filter((fault) => !found().some((line) => fault.test(line)))).toEqual([]);
    for (const fault of [...caused, /^console /, /^request GET \/x\.png csp$/]) expectFault(page, fault);
    expect(found()).toEqual([]);
  });

  detail('fails for what a person cannot use: a button without a name, a page that is too wide', async () => {
    const page = await at().open('/');
    await append(page, '<div id="wide">x</div>');
    await page.evaluate(`document.getElementById('wide').style.width = '500px'`);
    await expectAccessible(page, [{ scheme: 'light', width: 1280 }]);
    await expect(expectAccessible(page, [{ scheme: 'dark', width: 360 }])).rejects.toThrow(/sideways/);
    await append(page, '<button></button>');
    await expect(expectAccessible(page)).rejects.toThrow(/button-name/);
  });

  detail('has the time, zone, width and scheme that it chooses', async () => {
    const now = new Date('2026-11-22T02:30:00Z');
    const page = await at().open('/', { now, zone: 'Europe/Berlin', scheme: 'dark', width: 360 });
    await page.clock.setFixedTime(new Date('2026-11-22T03:00:00Z'));
    await expectAccessible(page);
    expect(await page.evaluate('[String(new Date()), innerWidth]')).toEqual([
      'Sun Nov 22 2026 04:00:00 GMT+0100 (Central European Standard Time)',
      360,
    ]);
  });
});
