import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newConversation, newTalker, scripted } from '../contract/conversations-fixture.ts';
import { ok, unknownId } from '../contract/fixture.ts';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const message = (page: Page) => page.getByLabel('Message', { exact: true });
const words = (n: number) => Array.from({ length: n }, (_, i) => `word${i}`).join(' ');
const say = async (page: Page, text: string) => {
  await message(page).fill(text);
  await message(page).press('Enter');
};
describeInBrowser('conversations', (at) => {
  let tools: TestToolServer;
  let serverId: string;
  const paid: unknown[] = [];
  beforeAll(async () => {
    tools = await startToolServer();
    const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
    const result = (args: Record<string, unknown>) => {
      paid.push(args);
      return { content: [{ type: 'text', text: `paid ${args.amount}` }] };
    };
    tools.tools = [{ name: 'pay', inputSchema, result }];
    const fields = { name: 'bank', prefix: 'bank', url: tools.url, default_policy: 'require_approval' };
    serverId = (await ok(at().api.post('/tool-servers', fields))).id;
  });
  afterAll(() => tools?.[Symbol.asyncDispose]());

  /** A conversation with what its page is called. */
  const talk = async (fields: object = {}) => {
    const agent = await newTalker(at(), { name: 'Ledger', ...fields });
    const conversation = await newConversation(at(), { agentId: agent.id });
    return { ...conversation, agentId: agent.id as string, page: conversation.path };
  };

  test('one is begun from the agent, by keyboard; the reply is written live, also after a reload', async () => {
    const { id } = await newTalker(at(), { name: 'Ledger' });
    const page = await at().open(`/agents/${id}?tab=conversations`);
    const begin = page.getByRole('button', { name: 'New conversation' });
    await begin.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Conversation without a name' }).waitFor();
    // A new one waits for its first message.
    await until(() => page.evaluate<boolean>(`document.activeElement?.name === 'message'`));
    await expectAccessible(page, wide);
    await page.keyboard.type('What is due?');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('Tell me.');
    await page.keyboard.press('Enter');
    await page.getByText("This is the mock model's answer to: What is due?").waitFor();
    await page.getByRole('heading', { level: 1, name: /^What is due\?/ }).waitFor();
    expect(await message(page).inputValue()).toBe('');

    await say(page, scripted({ steps: [{ text: words(2_000), delta_ms: 20 }] }, 'Count'));
    await page.getByText(/word3 /).waitFor();
    await page.getByText('Ledger is replying …').waitFor();
    await expect.poll(() => page.title()).toMatch(/^Running · What is due\?/);
    await page.reload();
    // What was written before the reload is there once, and it goes on.
    const written = page.getByText(/^word0 word1 /);
    const length = (await written.innerText()).length;
    await until(async () => (await written.innerText()).length > length);
    await button(page, 'Cancel').click();
    await page.getByText('The run was cancelled.').waitFor();
    expect(await written.count()).toBe(0);
  });

  detail('a run is stopped, and what is written in the meantime stays', async () => {
    const { page: path } = await talk();
    const page = await at().open(path);
    await say(page, scripted({ steps: [{ text: words(500), delta_ms: 50 }] }));
    await page.getByText(/word2 /).waitFor();
    await message(page).fill('And then?');
    await message(page).press('Enter');
    expect(await message(page).inputValue()).toBe('And then?');
    await expectAccessible(page, phone);
    await button(page, 'Cancel').click();
    await page.getByText('The run was cancelled.').waitFor();
    expect(await message(page).inputValue()).toBe('And then?');
    await button(page, 'Submit').click();
    await page.getByText('answer to: And then?').waitFor();
  });

  detail('calls that wait are decided together, with other arguments', async () => {
    const { page: path, send } = await talk({ tool_server_ids: [serverId] });
    const calls = [5, 7].map((amount) => ({ tool: 'bank__pay', args: { amount } }));
    await send({ content: scripted({ steps: [{ text: 'I will pay.', tools: calls }, { text: 'Done.' }] }) });
    const page = await at().open(path);
    await page.getByText('Decide about the 2 calls').waitFor();
    await expectAccessible(page);
    await button(page, 'Edit arguments').first().click();
    const dialog = page.getByRole('dialog', { name: 'Edit arguments' });
    await dialog.getByLabel('Arguments').fill('{"amount": 6}');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await button(page, 'Deny').click();
    await page.getByRole('dialog', { name: 'Deny' }).getByLabel('Reason').fill('too much');
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click();
    await button(page, 'Send decisions').click();
    await page.getByText('Done.', { exact: true }).waitFor();
    expect(paid.splice(0)).toEqual([{ amount: 6 }]);
    await say(page, scripted({ steps: [{ tools: calls.slice(0, 1) }, { text: 'Paid.' }] }));
    await button(page, 'Approve').click();
    await page.getByText('Paid.', { exact: true }).waitFor();
    expect(paid).toEqual([{ amount: 5 }]);
  });

  detail('a question is replied to, and a run that failed is tried again', async () => {
    const { page: path } = await talk({ settings: { max_attempts: 1 } });
    const page = await at().open(path);
    await say(page, scripted({ steps: [{ tool: 'request_review', args: { reason: 'Which month?' } }] }));
    await page.getByText('Ledger asks you').waitFor();
    await page.getByText('Which month?').last().waitFor();
    await expectAccessible(page, phone);
    await say(page, 'May');
    await page.getByText('answer to: May').waitFor();
    await say(page, scripted({ fail: 'The model is out of order.' }, 'Broken'));
    await page.getByText('Ledger could not reply.').waitFor();
    await page.getByText('The model is out of order. model_unavailable').waitFor();
    await expectAccessible(page, wide);
    await button(page, 'Try again').click();
    await until(() =>
      page.evaluate<boolean>(
        `[...document.querySelectorAll('li')].filter((li) => /^Broken$/m.test(li.innerText)).length === 2`,
      ),
    );
  });

  detail('it is renamed and deleted, and what is gone leads to the list', async () => {
    const { page: path, agentId, send } = await talk();
    await send({ content: 'Hello' });
    const page = await at().open(path);
    expectFault(page, /404|console Failed/);
    await button(page, 'Rename').click();
    const rename = page.getByRole('dialog', { name: 'Rename conversation' });
    await rename.getByLabel('Name').fill('Month end');
    await expectAccessible(page, phone);
    await rename.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name: 'Month end' }).waitFor();
    // A member sees only their own.
    const member = await at().open(path, { as: 'member' });
    expectFault(member, /404|console Failed/);
    await member.getByText('This does not exist.').waitFor();
    await button(page, 'Delete').click();
    await page
      .getByRole('dialog', { name: 'Delete conversation' })
      .getByRole('button', { name: 'Delete conversation' })
      .click();
    await page.getByText('No one has talked to this agent yet.').waitFor();
    await visit(page, `/agents/${agentId}/conversations/${unknownId}`);
    await page.getByText('This does not exist.').waitFor();
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('tab', { name: 'Conversations' }).waitFor();
  });

  detail('without the stream the page asks again, and says why a message was refused', async () => {
    const { page: path, send } = await talk();
    const page = await at().open(path);
    expectFault(page, /412|503|console Failed|\/stream/);
    await page.route('**/stream', (route) => route.fulfill({ status: 503, body: 'no' }));
    await say(page, scripted({ steps: [{ text: 'Slowly.', delay_ms: 700 }] }));
    await page.getByText('Slowly.', { exact: true }).waitFor();
    await send({ content: scripted({ delay_ms: 60_000 }), wait_seconds: 0 });
    await say(page, 'Hello?');
    await page.getByText('A run of this conversation is in progress.').waitFor();
    expect(await message(page).inputValue()).toBe('Hello?');
    await button(page, 'Cancel').click();
    await page.getByText('The run was cancelled.').waitFor();
  });
});
