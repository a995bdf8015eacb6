import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newAgent, newSchedule, ok } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

describeInBrowser('agents', (at) => {
  test('one is created, changed, shown in all its tabs and deleted', async () => {
    const page = await at().open('/agents');
    await page.getByRole('link', { name: 'New agent' }).click();
    await page.getByLabel('Name').fill('Night clerk');
    await page.getByLabel('Instructions').fill('Check the invoices of the day.');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: 'Night clerk' }).waitFor();
    await expectAccessible(page);
    const name = 'W'.repeat(100);
    const server = await ok(at().api.post('/tool-servers', { name, url: 'http://127.0.0.1:2/mcp' }));
    const { id } = (await ok(at().api.get('/agents'))).data[0];
    await ok(at().api.patch(`/agents/${id}`, { tool_server_ids: [server.id] }));
    for (const tab of ['Schedules', 'Work Items', 'Tools', 'Versions', 'Connect', 'Instructions']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
      await expectAccessible(page, phone);
    }
    await page.getByLabel('Instructions').fill('Check them twice.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Agent saved').waitFor();
    const [agent] = (await ok(at().api.get('/agents'))).data;
    expect(agent).toMatchObject({ name: 'Night clerk', instructions: 'Check them twice.', mode: 'worker' });
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete agent' });
    await dialog.getByText('0 schedules go with it, and 0 open Work Items are cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Delete agent' }).click();
    await page.getByText('There are no agents yet.').waitFor();
    await visit(page, `/agents/${agent.id}`);
    expectFault(page, /404/);
    await page.getByRole('link', { name: 'Agents', exact: true }).last().waitFor();
  });

  detail(
    'everything that the API knows of an agent is set by hand, and a copy has all but the secrets',
    { timeout: 180_000 },
    async () => {
      const server = await ok(
        at().api.post('/tool-servers', { name: 'Ledger', prefix: 'ledger', url: 'http://127.0.0.1:2/mcp' }),
      );
      const [one, two] = await Promise.all(
        ['Second', 'Third'].map((name) => ok(at().api.post('/llm-configurations', { name, kind: 'mock' }))),
      );
      const { id } = await newAgent(at(), { name: 'Complete', tool_server_ids: [server.id] });
      const read = () => ok(at().api.get(`/agents/${id}`));
      const page = await at().open(`/agents/${id}?tab=instructions`);
      const save = async () => {
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Agent saved').last().waitFor();
      };
      const field = (name: string) => page.getByRole('textbox', { name, exact: true });
      const choose = async (label: string, ...options: string[]) => {
        await page.getByRole('combobox', { name: label, exact: true }).focus();
        await page.keyboard.press('ArrowDown');
        for (const name of options) await page.getByRole('option', { name }).click();
        await page.keyboard.press('Escape');
      };
      await choose('Fallbacks', 'Third', 'Second');
      await page.getByRole('radio', { name: 'By external workers' }).check();
      await field('Schema of the result').fill('[]');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(/Write a JSON Schema/).waitFor();
      await field('Schema of the result').fill(
        '{"type": "object", "properties": {"sum": {"type": "number"}}}',
      );
      await expectAccessible(page, phone);
      await save();
      expect(await read()).toMatchObject({
        fallback_llm_ids: [two.id, one.id],
        execution: 'external',
        result_schema: { type: 'object', properties: { sum: { type: 'number' } } },
      });

      await page.getByRole('tab', { name: 'Tools' }).click();
      await choose('Tools of the platform', 'Query tables');
      await page.getByRole('button', { name: 'Add a policy' }).click();
      await field('Tool of policy 1').fill('pay_invoice');
      await choose('Policy 1', 'denied');
      await expectAccessible(page, phone);
      await save();
      const policy = { tool_server_id: server.id, tool: 'pay_invoice', policy: 'deny' };
      expect((await read()).tool_policies).toEqual([policy]);
      expect((await read()).settings.builtin_tools).not.toContain('query_data_frames');

      await page.getByRole('tab', { name: 'Connect' }).click();
      await page.getByRole('button', { name: 'Add a callback' }).click();
      await field('URL of callback 1').fill('https://hooks.example.com/a');
      await choose('Events of callback 1', 'Executing');
      const headers = page.getByRole('group', { name: 'Headers of callback 1' });
      await headers.getByRole('button', { name: 'Add' }).click();
      await headers.getByRole('textbox').first().fill('X-Team');
      await headers.getByLabel('Value 1').fill('night');
      await save();
      await page.getByText(/^Copy the signing secrets now/).waitFor();
      expect(await page.getByText(/^whsec_/).count()).toBe(1);
      await expectAccessible(page, phone);
      await page.getByRole('button', { name: 'Done' }).click();
      const [callback] = (await read()).callbacks;
      expect(callback).toMatchObject({ url: 'https://hooks.example.com/a', header_names: ['X-Team'] });
      expect(callback.events).toContain('work_item.executing');
      // What is not typed again stays.
      await choose('Events of callback 1', 'Failed');
      await save();
      expect((await read()).callbacks).toMatchObject([{ id: callback.id, header_names: ['X-Team'] }]);

      await page.getByRole('link', { name: 'Duplicate' }).click();
      await page.getByText(/The signing secret of the callback to https:.* headers X-Team/).waitFor();
      await expectAccessible(page, phone);
      await page.getByRole('button', { name: 'Create agent' }).click();
      await page.getByText('Agent created').waitFor();
      const copy = await ok(at().api.get(`/agents/${new URL(page.url()).pathname.split('/').at(-1)}`));
      const { callbacks, ...rest } = await read();
      // A copy begins with a version of its own.
      const own = ['id', 'name', 'created_at', 'updated_at', 'version', 'latest_version'];
      for (const name of own) delete rest[name];
      expect(copy).toMatchObject(rest);
      expect(copy.callbacks).toMatchObject([
        { url: callbacks[0].url, events: callbacks[0].events, header_names: [] },
      ]);
    },
  );

  detail(
    'Connect waits for the first span and says when it came; a member sees why it may not create',
    async () => {
      const agent = await newAgent(at(), { name: 'Traced' });
      const page = await at().open(`/agents/${agent.id}?tab=connect`, { as: 'member' });
      await page.getByText('Waiting for the first span …').waitFor();
      expect(await page.content()).toContain(`gen_ai.agent.id=${agent.id}`);
      await ok(
        at().test.api.post('/telemetry/v1/traces', {
          resourceSpans: [
            {
              resource: { attributes: [{ key: 'gen_ai.agent.id', value: { stringValue: agent.id } }] },
              scopeSpans: [{ spans: [{ traceId: 'aa'.repeat(16), spanId: 'bb'.repeat(8), name: 's' }] }],
            },
          ],
        }),
      );
      await page.getByText(/The last span came in/).waitFor();
      await visit(page, `/agents`);
      const create = page
        .getByRole('link', { name: 'New agent' })
        .or(page.getByRole('button', { name: 'New agent' }));
      expect(await create.getAttribute('aria-disabled')).toBe('true');
      await expectAccessible(page, wide);
    },
  );
  detail('which tools of the platform an agent has is chosen among its tools', async () => {
    const { id } = await newAgent(at(), { name: 'Frugal' });
    const page = await at().open(`/agents/${id}?tab=tools`);
    await page.getByRole('combobox', { name: 'Tools of the platform' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Look at the clock' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Agent saved').waitFor();
    const { settings } = await ok(at().api.get(`/agents/${id}`));
    expect(settings.builtin_tools).toHaveLength(7);
    expect(settings.builtin_tools).not.toContain('current_time');
  });
  detail(
    'that another person must approve is set by hand; a builder below the approval role cannot take it back',
    async () => {
      const { id } = await newAgent(at(), { name: 'Four eyes', approval_role: 'admin' });
      const read = async () => (await ok(at().api.get(`/agents/${id}`))).settings.approver_not_requester;
      const box = (page: Page) => page.getByRole('checkbox', { name: 'Another person must approve' });
      const page = await at().open(`/agents/${id}?tab=tools`);
      expect(await box(page).isChecked()).toBe(false);
      await box(page).focus();
      await page.keyboard.press('Space');
      await expectAccessible(page, phone);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Agent saved').waitFor();
      expect(await read()).toBe(true);
      await page.reload();
      expect(await box(page).isChecked()).toBe(true);

      const builder = await at().open(`/agents/${id}?tab=tools`, { as: 'builder' });
      expectFault(builder, /403/);
      await box(builder).uncheck();
      await builder.getByRole('button', { name: 'Save', exact: true }).click();
      await builder.getByRole('alert').filter({ hasText: 'approver_not_requester: false' }).waitFor();
      expect(await box(builder).isChecked()).toBe(false);
      expect(await read()).toBe(true);

      const member = await at().open(`/agents/${id}?tab=tools`, { as: 'member' });
      expect(await box(member).isDisabled()).toBe(true);
    },
  );
  detail('on a phone the open tab and the chosen status are in view', async () => {
    const { id } = await newAgent(at(), { name: 'Pocket' });
    const page = await at().open(`/agents/${id}?tab=connect`, { width: 360 });
    const inView = async (chosen: Locator) => {
      await chosen.waitFor();
      const { x, width } = (await chosen.boundingBox())!;
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(360);
    };
    await inView(page.getByRole('tab', { name: 'Connect', selected: true }));
    await page.getByRole('tab', { name: 'Connect' }).focus();
    for (let i = 0; i < 7; i += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await inView(page.getByRole('tab', { name: 'Overview', selected: true }));
    await page.goto(`${at().test.origin}/work-items?status=ERROR`);
    const chip = page.locator('a[aria-current]', { hasText: 'Failed' });
    const outside = async () => {
      const { x, width } = (await chip.boundingBox())!;
      return x < 0 || x + width > 360;
    };
    await chip.waitFor();
    await expect.poll(outside).toBe(false);
  });
  test('the time for approvals is written as people say it', async () => {
    const agent = await newAgent(at(), { name: 'Payer' });
    const page = await at().open(`/agents/${agent.id}?tab=tools`);
    const approvals = page.getByRole('region', { name: 'Approvals' });
    await approvals.getByLabel('Decide within').fill('soon');
    await page.getByRole('button', { name: 'Save' }).click();
    await approvals.getByText('must be a time such as').waitFor();
    await approvals.getByLabel('Decide within').fill('1h 30min');
    await approvals.getByLabel('If no one decides').click();
    await page.getByRole('option', { name: 'Escalate' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Agent saved').waitFor();
    expect(await ok(at().api.get(`/agents/${agent.id}`))).toMatchObject({
      approval_timeout_seconds: 5_400,
      approval_timeout_outcome: 'escalate',
    });
    expect(await approvals.getByLabel('Decide within').inputValue()).toBe('1 h 30 min');
    await expectAccessible(page, phone);
  });
  detail('any agent can be chosen where one is asked for, however many there are', async () => {
    const zebra = await newAgent(at(), { name: 'Zebra' });
    await newSchedule(at(), zebra.id);
    for (let i = 0; i < 55; i += 1) await newAgent(at(), { name: `Crowd ${i}` });
    const page = await at().open('/schedules?view=timeline');
    const filter = page.getByRole('button', { name: /^Agent/ });
    await filter.click();
    await page.getByRole('option', { name: 'Crowd 54' }).waitFor();
    expect(await page.getByRole('option', { name: 'Zebra' }).count()).toBe(0);
    await page.keyboard.type('zeb');
    await page.getByRole('option', { name: 'Zebra' }).click();
    await page.waitForURL(new RegExp(`agent_id=${zebra.id}`));
    await page.reload();
    await page.getByRole('button', { name: 'Agent Zebra' }).waitFor();
    for (const path of ['/work-items/new', '/schedules/new']) {
      const form = await at().open(path);
      const field = form.getByLabel('Agent', { exact: true });
      await field.fill('zebr');
      await form.getByRole('option', { name: 'Zebra' }).click();
      expect(await field.inputValue()).toBe('Zebra');
    }
  });
});
