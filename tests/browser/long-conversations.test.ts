import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newConversation, newTalker, scripted } from '../contract/conversations-fixture.ts';
import { ok, query } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';
import { describeInBrowser, detail } from './fixture.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const message = (page: Page) => page.getByLabel('Message', { exact: true });
const words = (n: number) => Array.from({ length: n }, (_, i) => `word${i}`).join(' ');
const say = async (page: Page, text: string) => {
  await message(page).fill(text);
  await message(page).press('Enter');
};
const distanceFromEnd = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollHeight - innerHeight - scrollY');

describeInBrowser('long conversations', (at) => {
  /** A conversation with what its page is called. */
  const talk = async () => {
    const agent = await newTalker(at(), { name: 'Ledger' });
    const conversation = await newConversation(at(), { agentId: agent.id });
    return { ...conversation, page: conversation.path };
  };

  detail('a long one is read from its end, and stays where it is while the reader is above', async () => {
    const { page: path, send, id } = await talk();
    const { messages } = await send({ content: 'The first of all' });
    const [{ run_id }] = messages;
    await query(
      at(),
      sql`insert into conversation_messages (conversation_id, id, run_id, role, content)
        select ${id}, gen_random_uuid(), ${run_id}, 'assistant',
          json_build_array(json_build_object('type', 'text', 'text', 'Reply ' || n || repeat(' and more', 40)))
        from generate_series(1, 120) n`,
    );
    const page = await at().open(path);
    await page.getByText(/^Reply 120 /).waitFor();
    await until(async () => (await distanceFromEnd(page)) < 5);
    await say(page, scripted({ steps: [{ text: words(2_000), delta_ms: 5 }] }, 'Count'));
    await page.getByText(/word9 /).waitFor();
    expect(await distanceFromEnd(page)).toBeLessThan(120);
    await page.mouse.wheel(0, -1_500);
    await until(async () => (await distanceFromEnd(page)) > 1_000);
    const top = await page.evaluate('scrollY');
    await page.getByText(/word150 /).waitFor({ state: 'attached' });
    expect(await page.evaluate('scrollY')).toBe(top);
    await button(page, 'Cancel').evaluate((element) => (element as unknown as { click(): void }).click());
    await page.getByText('The run was cancelled.').waitFor({ state: 'attached' });
    await ok(at().api.post(`${path}/messages`, { content: 'From elsewhere' }));
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await button(page, '3 new').click();
    await page.getByText('answer to: From elsewhere').waitFor();
    expect(await distanceFromEnd(page)).toBeLessThan(5);

    // Older messages come above, and what is read stays where it is.
    await page.evaluate('scrollTo(0, 0)');
    const oldest = await page.locator('ol > li[id]').first().getAttribute('id');
    const seen = page.locator(`#${oldest}`);
    const { y } = (await seen.boundingBox())!;
    await button(page, 'Earlier messages').click();
    await until(() => page.evaluate<boolean>(`document.querySelector('ol > li[id]').id !== '${oldest}'`));
    expect(Math.abs((await seen.boundingBox())!.y - y)).toBeLessThan(2);

    const first = messages[0].id;
    await page.goto(`${at().test.origin}${path}#message-${first}`);
    await page.reload();
    await page.locator(`#message-${first}[data-target]`).waitFor();
    await until(() => page.evaluate<boolean>(`document.activeElement?.id === 'message-${first}'`));
  });

  detail('a message of 5 MB is shown by its beginning, and downloaded whole', async () => {
    const { page: path, send, id } = await talk();
    await send({ content: 'Hello' });
    const text = 'All work and no play. '.repeat(240_000);
    await query(
      at(),
      sql`update conversation_messages set content = ${JSON.stringify([{ type: 'text', text }])}::json
        where conversation_id = ${id} and role = 'assistant'`,
    );
    const page = await at().open(path);
    await page
      .getByText(/The first .* of 5.3 MB/)
      .first()
      .waitFor();
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(5_000);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).first().click();
    expect((await download).suggestedFilename()).toMatch(/^message-/);
    await say(page, 'Next');
    await page.getByText('answer to: Next').waitFor();
  });
});
