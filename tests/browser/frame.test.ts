import { expect, test } from 'vitest';
import { newAgent, newKey, ok } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';
import { makePages } from './pages.ts';

/**
 * Runs in the page: the controls in view whose middle belongs to something else. What is scrolled out of its list is not
 * in view.
 */
const coveredControls = `[...document.querySelectorAll('a[href], button, input')]
  .filter((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    for (let box = element.parentElement; box; box = box.parentElement) {
      const outer = box.getBoundingClientRect();
      const middle = top + height / 2;
      if (/auto|scroll/.test(getComputedStyle(box).overflowY) && (middle < outer.top || middle > outer.bottom)) return false;
    }
    const upper = document.elementFromPoint(left + width / 2, top + height / 2);
    return width > 1 && upper !== null && !element.contains(upper) && !upper.contains(element);
  })
  .map((element) => element.outerHTML)`;

describeInBrowser('the frame of the application', (at) => {
  test('follows an address that changes while it starts', async () => {
    for (let n = 0; n < 10; n++) {
      const page = await at().open('/');
      await visit(page, '/agents');
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
      await page.close();
    }
  });

  test('finds pages by name: Enter opens, Ctrl+Enter in a new tab', async () => {
    const page = await at().open('/branding');
    await page.getByRole('button', { name: 'Find or go to' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Find or go to' });
    const field = palette.getByRole('combobox', { name: 'Find or go to' });
    await field.and(page.locator(':focus')).waitFor();
    await expectAccessible(page);
    await page.keyboard.type('work it');
    await palette.getByRole('option', { name: /^Work Items/ }).waitFor();
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.keyboard.press('Control+Enter'),
    ]);
    await opened.getByRole('heading', { level: 1, name: 'Work Items' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Work Items' }).waitFor();
    await palette.waitFor({ state: 'hidden' });
  });

  test('a row leads where its link leads, wherever one clicks, and leaves its text and its buttons alone', async () => {
    for (const name of ['Row clerk', 'Row keeper']) await newAgent(at(), { name });
    const page = await at().open('/agents?q=row');
    const row = page.getByRole('row', { name: /Row clerk/ });
    await row.waitFor();
    // Nothing lies over the page: the middle of each control in view is the control itself.
    expect(await page.evaluate(coveredControls)).toEqual([]);
    const cell = row.getByRole('cell').nth(1);
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      cell.click({ modifiers: ['Control'] }),
    ]);
    await opened.getByRole('heading', { level: 1, name: 'Row clerk' }).waitFor();
    await opened.close();
    await row.getByRole('button', { name: /More actions/ }).click();
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    const { x, y, height } = (await cell.boundingBox())!;
    await page.mouse.move(x + 8, y + height - 4);
    await page.mouse.down();
    await page.mouse.move(x + 90, y + 6, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate('getSelection().toString()')).not.toBe('');
    expect(new URL(page.url()).pathname).toBe('/agents');
    await page.evaluate('getSelection().empty()');
    await cell.click();
    await page.getByRole('heading', { level: 1, name: 'Row clerk' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: /Row keeper/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Row keeper' }).waitFor();
  });

  detail('finds things by their names, and each leads to its page', async () => {
    const name = 'Zebra <b>clerk</b>';
    const agent = await newAgent(at(), { name });
    const llm = await ok(at().api.post('/llm-configurations', { name: 'Zebra model', kind: 'mock' }));
    const key = await newKey(at(), 'member', { name: 'Zebra key' });
    const page = await at().open('/branding');
    const palette = page.getByRole('dialog', { name: 'Find or go to' });
    const find = async (text: string, option: string) => {
      await page.keyboard.press('Control+k');
      await palette.getByRole('combobox').fill(text);
      await palette.getByRole('option', { name: option }).click();
      await palette.waitFor({ state: 'hidden' });
    };
    await page.getByRole('heading', { level: 1, name: 'Branding' }).waitFor();
    await find('zebra', `${name} agent, worker`);
    await page.waitForURL(new RegExp(`/agents/${agent.id}$`));
    await find('zebra', 'Zebra model LLM configuration, mock, mock');
    await page.waitForURL(new RegExp(`/llm-configurations/${llm.id}$`));
    await find(key.prefix, `Zebra key API key, ${key.prefix}`);
    await page.getByRole('row', { name: /Zebra key/ }).waitFor();
    await find('max schedules', 'MAX_SCHEDULES_PER_AGENT setting');
    await page.getByLabel('MAX_SCHEDULES_PER_AGENT').waitFor();
  });

  detail('goes where letters say, until single-letter keys are switched off', async () => {
    const page = await at().open('/branding');
    await page.getByRole('heading', { level: 1, name: 'Branding' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('Go to Agents').waitFor();
    // A dialog has the keys to itself.
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await help.getByRole('button', { name: 'Close' }).click();
    await help.waitFor({ state: 'hidden' });
    await expect.poll(() => new URL(page.url()).pathname).toBe('/branding');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.getByRole('button', { name: /^Display/ }).click();
    await page.getByRole('switch', { name: 'Single-letter keys' }).click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/agents');
  });

  detail('keeps theme and zone, and has the theme before it is loaded', async () => {
    const page = await at().open('/branding', { zone: 'Europe/Berlin', scheme: 'light' });
    await page.getByRole('button', { name: 'Display: Berlin' }).click();
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.getByRole('radio', { name: 'UTC' }).check();
    await page.route('**/*index*.js', (route) => route.abort());
    expectFault(page, /index.*\.js|ERR_FAILED/);
    await page.reload();
    const scheme = () => page.evaluate(`document.documentElement.dataset.mantineColorScheme`);
    expect(await scheme()).toBe('dark');
    await page.unroute('**/*index*.js');
    await page.reload();
    await page.getByRole('button', { name: 'Display: UTC' }).waitFor();
    expect(await scheme()).toBe('dark');
  });

  test('leaves out what a role can never read, and says at its address which role can', async () => {
    const page = await at().open('/integrations', { as: 'member' });
    await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
    await page.getByText('It requires the role admin, and you act as member.').waitFor();
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Agents', exact: true }).waitFor();
    for (const name of ['Integrations', 'LLM configurations', 'Users', 'Settings', 'Audit log']) {
      expect(await navigation.getByRole('link', { name, exact: true }).count(), name).toBe(0);
    }
    await expectAccessible(page, wide);
  });

  detail('asks for nothing that a builder or a member may not have, on any page', async () => {
    // A conversation is only there for the person who began it.
    const paths = (await makePages(at())).filter((path) => !path.includes('/conversations/'));
    for (const as of ['builder', 'member'] as const) {
      // A refused request is a fault, and fails the test.
      const page = await at().open('/', { as });
      for (const path of paths) {
        await visit(page, path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      }
    }
  });

  detail('asks for nothing that the scopes of a key leave out, and says so', async () => {
    const { value } = await newKey(at(), 'builder', { scopes: ['agents'] });
    const page = await at().open('/sign-in', { as: null });
    const data = { api_key: value };
    await page.context().request.post(`${at().test.origin}/app/api/sessions`, { data });
    await page.goto(at().test.origin);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByText(/what you signed in with does not include this/).waitFor();
    await expectAccessible(page, wide);
  });

  detail('gives a title three lines, and the rest on demand', async () => {
    const name = 'A name that goes on and on, '.repeat(8).slice(0, 199).trim();
    const { id } = await newAgent(at(), { name });
    const page = await at().open(`/agents/${id}`, { width: 360 });
    const title = page.getByRole('heading', { level: 1, name });
    const height = async () => (await title.boundingBox())!.height;
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    const least = await height();
    expect(least).toBeLessThan(90);
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('button', { name: 'Show less' }).waitFor();
    expect(await height()).toBeGreaterThan(2 * least);
  });

  test('is whole on a phone: five places, and the rest behind More', async () => {
    const page = await at().open('/users', { width: 360 });
    const bar = page.getByRole('navigation', { name: 'Main' });
    await bar.getByRole('link', { name: 'Schedules', exact: true }).waitFor();
    expect(await bar.getByRole('link').count()).toBe(4);
    await bar.getByRole('button', { name: 'More' }).click();
    const more = page.getByRole('dialog', { name: 'More' });
    await more.getByRole('button', { name: 'Sign out' }).waitFor();
    await expectAccessible(page, phone);
    await more.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await more.waitFor({ state: 'hidden' });
  });

  test('asks nothing while it is hidden, says when the platform is away, and that it is back', async () => {
    const page = await at().open('/branding', { now: new Date('2026-11-22T13:36:00Z') });
    await page.getByRole('heading', { level: 1, name: 'Branding' }).waitFor();
    await page.getByLabel('Workspace name').waitFor();
    // What is loaded once the first page is there.
    await page.clock.runFor(4_000);
    await page.waitForLoadState('networkidle');
    let asked = 0;
    page.on('request', () => {
      asked += 1;
    });
    const show = (state: 'visible' | 'hidden') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
         document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
      );
    await show('hidden');
    await page.clock.runFor(300_000);
    expect(asked).toBe(0);
    await page.route('**/app/api/me', (route) => route.abort());
    expectFault(page, /ERR_FAILED/);
    await show('visible');
    await page.getByText(/^Offline for/).waitFor();
    await page.unroute('**/app/api/me');
    await expect
      .poll(async () => {
        await page.clock.runFor(2_000);
        return page.getByText(/^Offline for/).count();
      })
      .toBe(0);
  });

  test('ends a session with one button', async () => {
    const page = await at().open('/agents');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expectFault(page, /401/);
    await page.goto(`${at().test.origin}/agents`);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  test('says that a session has ended, and leads to sign-in and back to the page', async () => {
    const page = await at().open('/agents?mode=worker');
    expectFault(page, /401/);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const headers = { origin: at().test.origin };
    await page.context().request.post(`${at().test.origin}/app/api/sign-out`, { headers });
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.getByRole('status').getByText('Your session has ended.').waitFor();
    await page.getByLabel('API key', { exact: true }).fill(await at().keyOf('admin'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${at().test.origin}/agents?mode=worker`);
  });

  detail('learns from a refusal that the role is another one by now', async () => {
    const page = await at().open('/agents/new');
    expectFault(page, /403/);
    await page.getByLabel('Name', { exact: true }).fill('Late');
    await page.route('**/app/api/me', async (route) => {
      const me = await (await route.fetch()).json();
      const operations = me.operations.filter((name: string) => name !== 'createAgent');
      await route.fulfill({ json: { ...me, operations, principal: { ...me.principal, role: 'member' } } });
    });
    const refusal = {
      error: { error_id: 'e1', code: 'forbidden', message: 'It requires the role builder.' },
    };
    await page.route('**/api/v2/agents', (route) => route.fulfill({ status: 403, json: refusal }));
    await page.getByRole('button', { name: 'Create agent' }).click();
    await page.getByText(/and you act as member/).waitFor();
  });
});
