import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { upload } from '../contract/files-fixture.ts';
import { newAgent, ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser, visit } from './fixture.ts';

const both = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 360 },
] as const;
const [one, phone] = [both.slice(0, 1), both.slice(1)];

const conversation = async (at: InBrowser) => {
  const agent = await newAgent(at, { mode: 'conversational' });
  const { id } = await ok(at.api.post(`/agents/${agent.id}/conversations`, {}));
  const path = `/agents/${agent.id}/conversations/${id}`;
  return { path, page: `${path}?tab=files` };
};
const frameOf = async (at: InBrowser, path: string, name: string, content: string) => {
  const file = await upload(at.api, path, name, content);
  return ok(at.api.post(`${path}/data-frames`, { source: { kind: 'file', file_id: file.id } }));
};
const give = (page: Page, name: string, content: string | Buffer) =>
  page
    .locator('input[data-upload]')
    .first()
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
const cells = (page: Page, table: string, column: number): Promise<string[]> =>
  page
    .getByRole('table', { name: table, exact: true })
    .locator(`tbody tr td:nth-of-type(${column})`)
    .allTextContents();

const rows = [
  'id,name,amount,paid',
  '1,Ada,12.50,true',
  '2,<b onclick=alert(1)>Ben</b>,7.25,',
  '3,\u202eSiv,100,false',
];

describeInBrowser('files and data frames', (at) => {
  test('a file is uploaded, becomes a data frame, is ordered, exported and asked with SQL', async () => {
    const { page: address } = await conversation(at());
    const page = await at().open(address);
    await page.getByText('There are no files yet.').waitFor();
    await page.getByText('There are no data frames yet.').waitFor();
    await expectAccessible(page, phone);
    await give(page, 'orders.csv', rows.join('\n'));
    await page.getByText('orders.csv was uploaded.').waitFor();
    await page.getByRole('row', { name: /orders\.csv.*text\/csv.*B.*by you/ }).waitFor();
    await page.getByRole('button', { name: 'Make data frame of orders.csv' }).click();
    const dialog = page.getByRole('dialog', { name: 'Make data frame' });
    await dialog.getByLabel('Name', { exact: true }).fill('Not a name');
    await expectAccessible(page, one);
    expectFault(page, /422/);
    await dialog.getByRole('button', { name: 'Make data frame' }).click();
    await dialog.getByText(/must begin with a letter/).waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'orders' }).waitFor();
    await page.getByText('3 rows, 4 columns').waitFor();
    expect(await cells(page, 'orders', 2)).toEqual(['Ada', '<b onclick=alert(1)>Ben</b>', '\u202eSiv']);
    expect(await cells(page, 'orders', 4)).toEqual(['true', 'NULL', 'false']);
    const align = `[...document.querySelectorAll('table[aria-label="orders"] tbody tr:first-child td')]
      .map((cell) => getComputedStyle(cell).textAlign)`;
    expect(await page.evaluate(align)).toEqual(['right', 'left', 'right', 'left']);
    await page.getByRole('button', { name: 'amount Decimal' }).click();
    await expect.poll(() => cells(page, 'orders', 1)).toEqual(['2', '1', '3']);
    await page.getByRole('button', { name: /^amount/ }).click();
    await expect.poll(() => cells(page, 'orders', 1)).toEqual(['3', '1', '2']);
    expect(await page.locator('th[aria-sort="descending"]').textContent()).toContain('amount');
    await expectAccessible(page, both);
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'NDJSON' }).click(),
    ]);
    expect(await text(await download.createReadStream())).toContain('{"id":1,"name":"Ada"');
  });

  detail('SQL over data frames shows rows, says what is wrong, and keeps a result', async () => {
    const { path, page: address } = await conversation(at());
    await frameOf(at(), path, 'orders.csv', rows.join('\n'));
    const page = await at().open(address);
    expectFault(page, /422/);
    await page.getByLabel('SQL', { exact: true }).fill('SELECT nam FROM orders');
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByText(/nam/).last().waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('sql');
    await page
      .getByLabel('SQL', { exact: true })
      .fill('SELECT paid, sum(amount) AS total FROM orders GROUP BY paid');
    await page.getByLabel('Keep as', { exact: true }).fill('totals');
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByText(/Kept as totals/).waitFor();
    await page
      .getByRole('table', { name: 'Answer' })
      .getByRole('cell', { name: '100', exact: true })
      .waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByRole('link', { name: 'totals' }).click();
    await page.getByRole('table', { name: 'totals' }).waitFor();
    await page.getByRole('button', { name: 'Delete data frame' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete data frame' }).click();
    await page.getByText('Data frame deleted').waitFor();
    await page.getByRole('row', { name: /orders.*3.*4 columns/ }).waitFor();
    expect(await page.getByRole('link', { name: 'totals' }).count()).toBe(0);
  });

  detail(
    '300 columns, long texts and marks that turn text around neither break the page nor run',
    async () => {
      const { path, page: address } = await conversation(at());
      const names = Array.from({ length: 300 }, (_, i) => `column_${i}`);
      const long = 'x'.repeat(5_000);
      const content = [names, ...Array.from({ length: 60 }, () => names.map((_, i) => (i === 0 ? long : i)))];
      await frameOf(at(), path, 'wide.csv', content.map((line) => line.join(',')).join('\n'));
      await upload(at().api, path, `${'a long name '.repeat(18)}.csv`, 'a\n1');
      const page = await at().open(`${address}&frame=wide`);
      await page.getByText('Columns 1 to 40 of 300.').waitFor();
      await page.getByText('Rows 1 to 50 of 60.').waitFor();
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(5_000);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect(await page.evaluate(overflow)).toBe(0);
      // The head stays while the rows scroll in their own region.
      const head = `(() => {
      const region = document.querySelector('[role=group][aria-label=wide]');
      region.scrollTop = 300;
      region.scrollLeft = 200;
      return Math.round(region.querySelector('thead th').getBoundingClientRect().top - region.getBoundingClientRect().top);
    })()`;
      expect(await page.evaluate(head)).toBeLessThan(2);
      await page.getByRole('button', { name: 'Next columns' }).click();
      await page.getByRole('button', { name: 'column_41 Integer' }).waitFor();
      await page.getByRole('button', { name: 'Next rows' }).click();
      await page.getByText('Rows 51 to 60 of 60.').waitFor();
      await page.getByRole('button', { name: 'Previous columns' }).click();
      await page.getByTitle('Show the whole value of column_0, row 51').click();
      const dialog = page.getByRole('dialog', { name: 'column_0, row 51' });
      await dialog.getByText(long).waitFor();
      await expectAccessible(page, one);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await visit(page, address);
      await page.getByRole('row', { name: /a long name/ }).waitFor();
      await page.setViewportSize({ width: 360, height: 780 });
      expect(await page.evaluate(overflow)).toBe(0);
    },
  );

  detail(
    'an upload shows its progress and can be stopped, one that fails says why, and a dropped file is taken',
    async () => {
      const { path, page: address } = await conversation(at());
      const page = await at().open(address);
      await page.getByText('There are no files yet.').waitFor();
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('Network.enable');
      const slow = (uploadThroughput: number) =>
        cdp.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput,
        });
      await slow(200_000);
      await give(page, 'slow.bin', Buffer.alloc(3_000_000, 1));
      await page.getByRole('progressbar', { name: 'Upload of slow.bin' }).waitFor();
      await page.getByText(/% of 3 MB/).waitFor();
      await expectAccessible(page, one);
      await page.getByRole('button', { name: 'Stop the upload of slow.bin' }).click();
      await page.getByRole('progressbar').waitFor({ state: 'hidden' });
      await slow(-1);
      expect((await ok(at().api.get(`${path}/files`))).data).toEqual([]);
      await give(page, 'empty.txt', '');
      expectFault(page, /400/);
      await page.getByText('The file is empty.').waitFor();
      await page.getByRole('button', { name: 'Dismiss empty.txt' }).click();
      const drop = (type: string) =>
        page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['hello'], 'dropped.txt'));
        document.querySelector('[data-drop]')
          .dispatchEvent(new DragEvent('${type}', { dataTransfer, bubbles: true, cancelable: true }));
      })()`);
      await drop('dragover');
      await page.getByText('Drop the files here.').waitFor();
      await drop('drop');
      await page.getByRole('row', { name: /dropped\.txt/ }).waitFor();
      await page.getByRole('button', { name: 'More actions for dropped.txt' }).click();
      await page.getByRole('menuitem', { name: /Make data frame.*Tables are made of CSV/ }).waitFor();
      await page.getByRole('menuitem', { name: 'Delete file' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete file' }).click();
      await page.getByText('There are no files yet.').waitFor();
    },
  );

  detail(
    'files of a Work Item change only while it is a draft, and a frame that is gone says so',
    async () => {
      const agent = await newAgent(at(), { mode: 'worker' });
      const draft = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
      await upload(at().api, `/work-items/${draft.id}`, 'plan.md', 'Plan');
      const page = await at().open(`/work-items/${draft.id}?tab=files`);
      await page.getByRole('row', { name: /plan\.md/ }).waitFor();
      await page.getByRole('link', { name: 'Extract from plan.md' }).waitFor();
      await ok(at().api.post(`/work-items/${draft.id}/submit`));
      await page.reload();
      await page.getByRole('row', { name: /plan\.md/ }).waitFor();
      const button = page.getByRole('button', { name: 'Upload files' });
      expect(await button.getAttribute('aria-disabled')).toBe('true');
      await button.focus();
      await page.keyboard.press('Enter');
      await expectAccessible(page, phone);
      await visit(page, `/work-items/${draft.id}?tab=files&frame=none`);
      expectFault(page, /404/);
      await page.getByText('There is no such data frame any more.').waitFor();
      await page.getByRole('link', { name: 'All data frames' }).click();
      await page.getByRole('row', { name: /plan\.md/ }).waitFor();
    },
  );
});
