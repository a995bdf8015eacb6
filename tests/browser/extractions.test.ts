import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sendForm, upload } from '../contract/files-fixture.ts';
import { newAgent, ok, unknownId } from '../contract/fixture.ts';
import { ReaderServer } from '../harness/document-readers.ts';
import { pdf, textPdf } from '../harness/documents.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser, visit } from './fixture.ts';

const both = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 360 },
] as const;
const [one, phone] = [both.slice(0, 1), both.slice(1)];

const text = { type: 'string' };
const lines = [
  'Nordlicht <b>Papier</b> GmbH',
  'Invoice number: INV-2041',
  'Total: 1.234,75 EUR',
  'Total: 1.234,75',
];
const second = ['Terms', 'Order: A-7'];

const extract = (
  at: InBrowser,
  asked: { schema: object; answer?: object; name?: string; content?: string | Buffer },
) =>
  ok(
    sendForm(at.api, '/document-intelligence/extract', [
      { name: 'schema', content: JSON.stringify(asked.schema) },
      ...(asked.answer ? [{ name: 'instructions', content: `mock:${JSON.stringify(asked.answer)}` }] : []),
      { name: 'options', content: JSON.stringify({ include_pages: true }) },
      {
        name: 'file',
        filename: asked.name ?? 'invoice.pdf',
        content: asked.content ?? textPdf(lines, second),
      },
    ]),
  );

/** Whether the box that is drawn covers the text of a line, as parts of the page. */
const drawn = (page: Page): Promise<[number, number] | null> =>
  page.evaluate(`(() => {
    const [svg] = document.querySelectorAll('svg[aria-label^="Page"]');
    const box = [...svg.querySelectorAll('rect')].at(-1).getBoundingClientRect();
    const whole = svg.getBoundingClientRect();
    return [(box.top + box.height / 2 - whole.top) / whole.height, (box.left - whole.left) / whole.width];
  })()`);

describeInBrowser('extractions', (at) => {
  test('a document is uploaded with fields, followed, and each value is shown where it stands', async () => {
    const page = await at().open('/extractions');
    await page.getByText('There are no extractions yet.').waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('link', { name: 'New extraction' }).click();
    const send = page.getByRole('button', { name: 'Extract', exact: true });
    await send.click();
    await page.getByText('Choose a document first.').waitFor();
    await page
      .locator('input[data-upload]')
      .setInputFiles({ name: 'invoice.pdf', mimeType: 'application/pdf', buffer: textPdf(lines, second) });
    await send.click();
    await page.getByText('Add at least one field.').waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Start with an invoice' }).click();
    for (const place of [6, 5, 3]) await page.getByRole('button', { name: `Remove field ${place}` }).click();
    await page.getByLabel('Key of field 2', { exact: true }).fill('order');
    await page.getByLabel('Type of field 2', { exact: true }).click();
    await page.getByRole('option', { name: 'Text', exact: true }).click();
    await page.getByRole('radio', { name: 'JSON' }).check();
    const schema = JSON.parse(await page.getByLabel('JSON Schema').inputValue());
    expect(schema.required).toEqual(['invoice_number', 'total']);
    expect(schema.properties.order).toEqual(text);
    await page.getByLabel('JSON Schema').fill('{');
    await send.click();
    await page.getByText('This is not JSON.').waitFor();
    expectFault(page, /422/);
    await page.getByLabel('JSON Schema').fill(JSON.stringify({ ...schema, anyOf: [] }));
    await send.click();
    await page.getByText(/anyOf.*is not supported here/).waitFor();
    await page.getByLabel('JSON Schema').fill(JSON.stringify(schema));
    await page.getByRole('radio', { name: 'Fields' }).check();
    expect(await page.getByLabel('Key of field 2', { exact: true }).inputValue()).toBe('order');
    await send.click();
    await page.getByRole('heading', { level: 1, name: 'invoice.pdf' }).waitFor();
    await page.getByRole('region', { name: 'Result' }).waitFor();
    const number = page.getByRole('link', { name: /invoice_number.*INV-2041.*Found.*p\. 1/ });
    expect(await number.getAttribute('aria-current')).toBe('true');
    await page.locator('blockquote').getByText('Invoice number: INV-2041').waitFor();
    await page.getByText('Page 1, line 2.').waitFor();
    const [top, left] = (await drawn(page))!;
    // The line stands 70 points below the top of 800, and the value right of its label.
    expect(top).toBeGreaterThan(0.07);
    expect(top).toBeLessThan(0.1);
    expect(left).toBeGreaterThan(0.15);
    await page.getByText('All 3 values stand in the document.').waitFor();
    await page.getByText(/The result is deleted in/).waitFor();
    await page.getByRole('link', { name: /^order.*A-7/ }).focus();
    await page.keyboard.press('Enter');
    await page.locator('blockquote').getByText('Order: A-7').waitFor();
    await page.getByText('Page 2 of 2').waitFor();
    await page.getByRole('link', { name: /^total.*1234\.75.*Reformatted/ }).click();
    await page.getByText('It is written otherwise in the document.').waitFor();
    const first = await drawn(page);
    await page.getByText('Place 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Next place' }).click();
    await page.getByText('Place 2 of 2').waitFor();
    await until(async () => (await drawn(page))![0] > first![0]);
    await expectAccessible(page, both);
    expect(await page.locator('svg[aria-label^="Page"] b').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete extraction' }).click();
    await page.getByText('There are no extractions yet.').waitFor();
  });

  detail('values that are not in the document are marked, and so is what has no value', async () => {
    const schema = {
      type: 'object',
      properties: {
        order: text,
        note: text,
        items: { type: 'array', items: { type: 'object', properties: { name: text } } },
      },
      required: ['note'],
    };
    const made = await extract(at(), {
      schema,
      answer: { order: 'PO-77', items: [{ name: 'Paper' }, { name: '<img src=x onerror=alert(1)>' }] },
      name: 'mail.txt',
      content: [...Array.from({ length: 900 }, (_, i) => `Line ${i} \u202eabc`), 'Paper'].join('\n'),
    });
    const page = await at().open(`/extractions/${made.id}`);
    await page.getByText('Done, incomplete').waitFor();
    await page.getByText(/1 of 3 values stand in the document.*2 values were not found in it/).waitFor();
    await page.locator('mark').getByText('Paper').waitFor();
    await page.getByText('This document has no layout').waitFor();
    await page.getByRole('link', { name: /^order.*PO-77.*Not in the document/ }).click();
    await page.getByText('The value was not found in the document.').waitFor();
    expect(await page.locator('blockquote').count()).toBe(0);
    expect(await page.locator('mark').count()).toBe(0);
    await page.getByRole('link', { name: /^note.*no value/ }).click();
    await page.getByText('The model gave no value.').waitFor();
    await expectAccessible(page, phone);
    const locked = await extract(at(), {
      schema,
      name: 'locked.pdf',
      content: pdf([{}], { encrypted: true }),
    });
    await visit(page, `/extractions/${locked.id}`);
    await page.getByText('Remove the password of the file and extract again.').waitFor();
    await visit(page, '/extractions');
    await page.getByRole('row', { name: /locked\.pdf.*Failed.*the PDF has a password/ }).waitFor();
    await expectAccessible(page, one);
    expectFault(page, /404/);
    await visit(page, `/extractions/${unknownId}`);
    await page
      .getByText(/does not exist/)
      .first()
      .waitFor();
  });

  detail('one that works is followed and can be stopped, and a member sees no reader', async () => {
    const server = await ReaderServer.start(() => null);
    await ok(at().api.put('/document-intelligence', { provider: 'http', settings: { url: server.url } }));
    const agent = await newAgent(at(), { mode: 'conversational' });
    const conversation = await ok(at().api.post(`/agents/${agent.id}/conversations`, {}));
    const path = `/agents/${agent.id}/conversations/${conversation.id}`;
    await upload(at().api, path, 'scan.pdf', textPdf(lines));
    const page = await at().open(`${path}?tab=files`);
    await page.getByRole('link', { name: 'Extract from scan.pdf' }).click();
    await page.getByText('A file of a conversation.').waitFor();
    await page.getByLabel('Key of field 1', { exact: true }).fill('total');
    await expectAccessible(page, one);
    await page.keyboard.press('Enter');
    await page.getByText('The document is read, and the model is asked.').waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete extraction' });
    await dialog.getByText('It has not ended: the work is stopped.').waitFor();
    await dialog.getByRole('button', { name: 'Delete extraction' }).click();
    await page.getByRole('heading', { level: 1, name: 'Extractions' }).waitFor();
    await server.stop();
    await at().api.delete('/document-intelligence');
    const member = await at().open('/extractions', { as: 'member' });
    await member.getByText('There are no extractions yet.').waitFor();
    expect(await member.getByRole('link', { name: 'Reader' }).count()).toBe(0);
    expect(await member.getByRole('link', { name: 'Document intelligence' }).count()).toBe(0);
    await visit(member, '/document-intelligence');
    await member.getByText(/admin/).first().waitFor();
  });

  detail('a configuration that someone else saved first is not written over unseen', async () => {
    const page = await at().open('/document-intelligence');
    const languages = page.getByLabel('OCR languages', { exact: true });
    await languages.fill('eng, eng');
    await ok(at().api.put('/document-intelligence', { provider: 'embedded', settings: {}, ocr: 'off' }));
    expectFault(page, /412/);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('dialog');
    await conflict.getByRole('button', { name: 'Write mine' }).waitFor();
    await expectAccessible(page, phone);
    await conflict.getByRole('button', { name: 'Keep theirs' }).click();
    await conflict.waitFor({ state: 'hidden' });
    expect(await languages.inputValue()).toBe('eng');
    await page.getByText('Changed', { exact: false }).first().waitFor();
    await at().api.delete('/document-intelligence');
  });

  detail(
    'the reader is chosen, tested in steps and saved; its key is never shown and goes nowhere else',
    async () => {
      const secret = 'correct-horse-battery';
      const server = await ReaderServer.start(() => ({
        body: { pages: [{ page: 1, width: 100, height: 100, lines: [{ text: 'Hello' }] }] },
      }));
      const page = await at().open('/document-intelligence');
      await page.getByText('Nothing was configured.').waitFor();
      const engine = page.getByLabel('Engine', { exact: true });
      const choose = async (name: string) => {
        await engine.click();
        await page.getByRole('option', { name, exact: true }).click();
      };
      await choose('Azure AI Document Intelligence');
      await page.getByLabel('Endpoint', { exact: true }).fill('no address');
      expectFault(page, /422/);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('endpoint');
      await expectAccessible(page, phone);
      await choose('A reader of your own');
      await page.getByLabel('URL', { exact: true }).fill(server.url);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByLabel('Name 1', { exact: true }).fill('authorization');
      await page.getByLabel('Value 1', { exact: true }).fill(secret);
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      await page
        .getByRole('region', { name: 'Test result' })
        .getByText('The sample was read: 1 lines.')
        .waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Document intelligence saved').waitFor();
      await page.getByText('Documents are read by A reader of your own.').waitFor();
      await page.getByRole('button', { name: 'Replace' }).waitFor();
      expect(await page.content()).not.toContain(secret);
      await expectAccessible(page, one);
      await page.getByLabel('URL', { exact: true }).fill(`${server.url}/other`);
      await page.getByText('Type them again: the address changes.').waitFor();
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Replace' }).waitFor();
      await page.getByLabel('OCR languages').fill('deu');
      await page.getByRole('button', { name: 'Delete configuration' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete configuration' }).click();
      await page.getByText('Nothing was configured.').waitFor();
      // What was typed is gone, and what is typed now is no conflict with the deletion.
      await page.getByLabel('OCR languages').and(page.locator('[value="eng"]')).waitFor();
      await choose('A reader of your own');
      await page.getByLabel('URL', { exact: true }).fill(server.url);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Documents are read by A reader of your own.').waitFor();
      await at().api.delete('/document-intelligence');
      await server.stop();
    },
  );
});
