import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { makeShop } from '../../examples/shop.ts';
import { newAgent, ok } from '../contract/fixture.ts';
import { completion, startEndpoint, wireCall } from '../harness/llm-endpoint.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

/** More stops than any page of this test has. */
const mostStops = 200;

/** Someone who has a keyboard and no pointer. What has the focus must be in view. */
const keyboardOf = (page: Page) => {
  const press = (key: string) => page.keyboard.press(key);
  const hasFocus = (target: Locator) =>
    target.evaluate((element) => element === element.ownerDocument.activeElement);
  /** Whether the middle of `target` is in view, and nothing else over it. */
  const isInView = (target: Locator) =>
    target.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const upper = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
      return upper !== null && (element.contains(upper) || upper.contains(element));
    });
  /** Presses Tab until `target` has the focus. */
  const tabTo = async (target: Locator): Promise<void> => {
    await target.waitFor();
    for (let stops = 0; stops < mostStops; stops += 1) {
      if (await hasFocus(target)) {
        await expect.poll(() => isInView(target), { message: `${target} is hidden` }).toBe(true);
        return;
      }
      await press('Tab');
    }
    throw new Error(`no Tab leads to ${target}`);
  };
  const within = (scope: Page | Locator) => ({
    write: async (label: string, text: string) => {
      await tabTo(scope.getByLabel(label, { exact: true }));
      await press('Control+a');
      // In one event: each letter would be a rendering and, in some fields, a request.
      await page.keyboard.insertText(text);
    },
    push: async (name: string | RegExp, role: 'button' | 'link' | 'tab' = 'button') => {
      await tabTo(scope.getByRole(role, { name, exact: true }));
      await press('Enter');
    },
    choose: async (label: string, option: string) => {
      const field = scope.getByRole('combobox', { name: label, exact: true });
      await tabTo(field);
      const chosen = page.getByRole('option', { name: option }).first();
      await press('ArrowDown');
      await chosen.waitFor();
      for (let i = 0; i < 20; i += 1) {
        const id = await field.getAttribute('aria-activedescendant');
        if (id !== null && id === (await chosen.getAttribute('id'))) break;
        await press('ArrowDown');
      }
      await press('Enter');
      // The list of a field that takes several stays open.
      await press('Tab');
      await chosen.waitFor({ state: 'hidden' });
    },
  });
  return {
    ...within(page),
    within,
    press,
    tabTo,
    /** Opens a tab of the page: Tab leads to the open one, arrows to the others. */
    openTab: async (name: string) => {
      const tab = page.getByRole('tab', { name });
      await tabTo(page.getByRole('tab', { selected: true }));
      for (let i = 0; i < 10 && !(await hasFocus(tab)); i += 1) await press('ArrowRight');
      await press('Enter');
      await tab.and(page.locator('[aria-selected="true"]')).waitFor();
    },
    /** Goes to a page by its name in the palette. */
    go: async (name: string) => {
      // The frame listens once a page is in it.
      await page.getByRole('heading', { level: 1 }).waitFor();
      await press('Control+k');
      await page.getByRole('combobox', { name: 'Find or go to' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.insertText(name);
      await page.getByRole('option', { name: new RegExp(`^${name}`), selected: true }).waitFor();
      await press('Enter');
      await page.getByRole('heading', { level: 1, name }).waitFor();
    },
  };
};

/** Some hundred stops are a long way for a machine that has other things to do. */
const timeout = 180_000;

describeInBrowser('a keyboard alone', (at) => {
  detail('is enough to build: a tool server, data, an agent, a schedule, a key', { timeout }, async () => {
    await using server = await startToolServer({ tools: [{ name: 'pay_invoice', description: 'Pays.' }] });
    const databases = join(at().dataDir, 'databases');
    mkdirSync(databases, { recursive: true });
    makeShop(join(databases, 'shop.db'));
    const page = await at().open('/', { as: 'builder' });
    const { write, push, choose, go, openTab, within } = keyboardOf(page);
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

    await go('New tool server');
    await write('Name', 'Payments');
    await write('URL', server.url);
    await push('Create tool server');
    await heading('Payments');
    await push('Test');
    await page.getByText('Agents can use the server.').waitFor();

    await go('New data connection');
    await choose('Engine', 'SQLite');
    await write('Name', 'Shop');
    await write('Path', 'shop.db');
    await push('Test');
    await page.getByText('The database can be read.').waitFor();
    await push('Create data connection');
    await heading('Shop');

    await go('New agent');
    await write('Name', 'Night clerk');
    await write('Instructions', 'Write the report.');
    await push('Create agent');
    await heading('Night clerk');
    await openTab('Tools');
    await choose('Tool servers', 'Payments');
    await push('Save');
    await page.getByText('Agent saved').waitFor();

    await go('New schedule');
    await choose('Agent', 'Night clerk');
    await write('Name', 'Minute report');
    await push('Create schedule');
    await heading('Minute report');
    await push('Pause');
    const pause = page.getByRole('dialog', { name: 'Pause schedule' });
    await within(pause).write('Reason', 'The ledger moves.');
    await within(pause).push('Pause schedule');
    await page.getByText('The ledger moves.').first().waitFor();
    await push('Resume');
    await page.getByRole('button', { name: 'Pause' }).waitFor();

    await go('API keys');
    await push('New API key');
    const key = within(page.getByRole('dialog', { name: 'New API key' }));
    await key.write('Name', 'Nightly export');
    await key.push('Create key');
    await key.push('Copy value');
    await key.push('Done');
    await page.getByRole('row', { name: /Nightly export/ }).waitFor();
  });

  detail(
    'is enough to talk: a file becomes a data frame, and a call that waits is approved',
    { timeout },
    async () => {
      await using server = await startToolServer({ tools: [{ name: 'pay_invoice', description: 'Pays.' }] });
      const payments = await ok(
        at().api.post('/tool-servers', { name: 'Pay', url: server.url, default_policy: 'require_approval' }),
      );
      const talker = await newAgent(at(), { name: 'Talker', mode: 'conversational' });
      const cashier = await newAgent(at(), { name: 'Cashier', tool_server_ids: [payments.id] });
      const page = await at().open(`/agents/${talker.id}?tab=conversations`, { as: 'builder' });
      const { write, push, go, openTab, within } = keyboardOf(page);

      await push('New conversation');
      await page.getByRole('tab', { name: 'Files' }).waitFor();
      await write('Message', 'What did we sell?');
      await push('Submit');
      await page.getByText("This is the mock model's answer to: What did we sell?").waitFor();
      await openTab('Files');
      await page.getByText('There are no files yet.').waitFor();
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), push('Upload files')]);
      await chooser.setFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') });
      await push('Make data frame of orders.csv');
      const make = page.getByRole('dialog', { name: 'Make data frame' });
      await within(make).write('Name', 'sold');
      await within(make).push('Make data frame');
      await page.getByRole('table', { name: 'sold' }).waitFor();
      await write('SQL', 'SELECT b FROM sold');
      await push('Run query');
      await page.getByRole('table', { name: 'Answer' }).waitFor();

      const call = { tool: 'pay__pay_invoice', args: { invoice: '2026-0117' } };
      const { id } = await ok(
        at().api.post('/work-items', {
          agent_id: cashier.id,
          payload: { mock: { steps: [call, { text: 'Paid.' }] } },
        }),
      );
      await go('Review');
      await push('Approve');
      await page.getByText('Nothing waits for a person.').waitFor();
      await expect.poll(async () => (await ok(at().api.get(`/work-items/${id}`))).status).toBe('COMPLETED');
      expect(server.calls).toHaveLength(1);
    },
  );

  detail('is enough to administer: a model, traces, people, settings, branding', { timeout }, async () => {
    await using backend = await startOtlpReceiver();
    await using endpoint = await startEndpoint(({ body }) => ({
      body: completion(
        body.tools ? { tool_calls: [wireCall('c1', 'current_time', {})] } : { content: 'ready' },
      ),
    }));
    const page = await at().open('/');
    const { write, push, choose, go, press, within } = keyboardOf(page);
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

    await go('New LLM configuration');
    await write('Name', 'House model');
    await write('Model', 'model-1');
    await write('Base URL', endpoint.url);
    await write('API key', 'sk-a-secret-value');
    await push('Create LLM configuration');
    await heading('House model');
    await push('Test');
    await page.getByText('The model can do what agents need.').waitFor();
    await write('Model', 'model-2');
    await push('Save');
    await page.getByText(/OpenAI-compatible, model model-2/).waitFor();

    await go('New integration');
    await choose('Provider', 'OTLP with custom headers');
    await write('URL', backend.url);
    await push('Test');
    await page.getByText('The backend accepted a sample span.').waitFor();
    await push('Save integration');
    await page.getByText('Nothing was delivered yet.').waitFor();
    await push('Turn off');
    await push('Turn on');

    await go('Users');
    await push('Invite user');
    const invite = page.getByRole('dialog', { name: 'Invite user' });
    await within(invite).write('Email', 'ada@example.com');
    await within(invite).push('Invite user');
    await invite.waitFor({ state: 'hidden' });
    await push('More actions for ada@example.com');
    await page.getByRole('menuitem', { name: 'Change role' }).and(page.locator(':focus')).waitFor();
    await press('Enter');
    const role = page.getByRole('dialog', { name: 'Change role' });
    await within(role).choose('Role', 'Admin');
    await within(role).push('Change role');
    await page.getByRole('cell', { name: /Admin/ }).first().waitFor();

    await go('Settings');
    await write('MAX_SCHEDULES_PER_AGENT', '77');
    await push('Save');
    await page.getByText('Settings saved').waitFor();

    await go('Branding');
    await write('Workspace name', 'Night shift');
    await push('Save');
    await page.getByText('Branding saved').waitFor();
    expectFault(page, /401/);
    await push('Sign out');
    await heading('Sign in');
  });
});
