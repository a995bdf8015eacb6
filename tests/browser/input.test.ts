import { inputRequired } from '@modelcontextprotocol/server';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, looks } from './accessibility.ts';
import { describeInBrowser, type InBrowser } from './fixture.ts';
import { playedAgent } from './work-items-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** A page with a Work Item whose one call asks for input; the body of the decision that it sends. */
const asked = async (
  at: InBrowser,
  path: string,
  input: object,
): Promise<{ page: Page; sent: () => Json }> => {
  const played = await playedAgent(at, 'Booker');
  const approvals = [{ kind: 'tool_call', tool_name: 'hotel.book', arguments: { city: 'Oslo' } }];
  const id = await played.asking({ work_item_name: 'Trip' }, { reason: 'Book?', approvals });
  const page = await at.open('/status');
  let body: Json;
  await page.route(new RegExp(`/app/api/work-items/${id}(\\?.*)?$`), async (route) => {
    const response = await route.fetch();
    const item = await response.json();
    const [first] = item.pending_approvals;
    const pending_approvals = first
      ? [{ ...first, kind: 'input', mode: 'form', url: null, round: 1, ...input }]
      : [];
    return route.fulfill({ response, json: { ...item, pending_approvals } });
  });
  await page.route(`**/api/v2/work-items/${id}/continue`, async (route) => {
    body = route.request().postDataJSON();
    const { decisions } = body;
    // The Work Item really waits for a decision on a call.
    const plain = decisions.map(({ arguments: _, ...decision }: Json) => decision);
    return route.continue({ postData: JSON.stringify({ ...body, decisions: plain }) });
  });
  await page.goto(at.test.origin + path.replace(':id', id));
  return { page, sent: () => body };
};

describeInBrowser('input that a tool asks for', (at) => {
  test('is a form on the page of a Work Item', async () => {
    const input_schema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name' },
        nights: { type: 'integer', title: 'Nights', default: 2 },
        room: { type: 'string', title: 'Room', enum: ['s', 'd'], enumNames: ['Single', 'Double'] },
        breakfast: { type: 'boolean', title: 'Breakfast' },
      },
      required: ['name'],
    };
    const { page, sent } = await asked(at(), '/work-items/:id', { reason: 'Who stays?', input_schema });
    const region = page.getByRole('region', { name: 'Input' });
    await region.getByText('Who stays?').waitFor();
    await region.getByRole('button', { name: 'Submit answer' }).click();
    await region.getByText('is required').waitFor();
    await region.getByLabel('Your name').fill('Ada');
    await region.getByLabel('Room').click();
    await page.getByRole('option', { name: 'Double' }).click();
    await expectAccessible(page, looks);
    await region.getByRole('button', { name: 'Submit answer' }).click();
    await region.waitFor({ state: 'detached' });
    expect(sent().decisions).toMatchObject([
      { decision: 'approve', arguments: { name: 'Ada', nights: 2, room: 'd', breakfast: false } },
    ]);
  });

  test('is an address on Review, opened in another tab before it is finished', async () => {
    const url = 'https://pay.example/start?to=oslo';
    const input = { mode: 'url', url, input_schema: null, reason: 'Pay the deposit.' };
    const { page, sent } = await asked(at(), '/review/:id', input);
    const region = page.getByRole('region', { name: 'Input' });
    expect(await region.locator('mark').textContent()).toBe('pay.example');
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    const finished = region.getByRole('button', { name: 'I have finished' });
    const link = region.getByRole('link', { name: 'Open address' });
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
    await page.context().route('https://pay.example/**', (route) => route.fulfill({ body: 'paid' }));
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await tab.close();
    await expectAccessible(page, looks);
    await finished.click();
    await expect.poll(() => sent()?.decisions).toMatchObject([{ decision: 'approve' }]);
    expect(sent().decisions[0].arguments).toBeUndefined();
  });

  test('says to members which server gets the answer, which they give on both pages', async () => {
    const answers: Json[] = [];
    const properties = { code: { type: 'string', title: 'Code' } };
    const who = inputRequired.elicit({
      message: 'Which code?',
      requestedSchema: { type: 'object', properties, required: ['code'] },
    } as never);
    await using server = await startToolServer({
      era: 'modern',
      tools: [
        {
          name: 'pay',
          result: (_, { mcpReq }: Json) => {
            if (!mcpReq.inputResponses) return inputRequired({ inputRequests: { who } });
            answers.push(mcpReq.inputResponses.who);
            return 'paid';
          },
        },
      ],
    });
    const { api } = at();
    const fields = { name: 'Bank', prefix: 'bank', url: server.url, default_policy: 'allow' };
    const { id: serverId } = await ok(api.post('/tool-servers', fields));
    const { id: agentId } = await newAgent(at(), { tool_server_ids: [serverId], approval_role: 'member' });
    const mock = { steps: [{ tool: 'bank__pay', args: {} }, { text: 'Paid.' }] };
    const from = `Tool server Bank, ${new URL(server.url).host}`;
    for (const path of ['/work-items', '/approve']) {
      const { id } = await ok(api.post('/work-items', { agent_id: agentId, payload: { mock } }));
      const { review_id } = await until(async () => {
        const item = await ok(api.get(`/work-items/${id}`));
        return item.review_id && item;
      });
      const page = await at().open(`${path}/${path === '/approve' ? review_id : id}`, { as: 'member' });
      const region = page.getByRole('region', { name: 'Input' });
      await region.getByText(from).waitFor();
      await region.getByLabel('Code').fill(path);
      await page.getByRole('button', { name: 'Submit answer' }).click();
      await until(async () => (await ok(api.get(`/work-items/${id}`))).status === 'COMPLETED');
    }
    expect(answers).toEqual([
      { action: 'accept', content: { code: '/work-items' } },
      { action: 'accept', content: { code: '/approve' } },
    ]);
  });
});
