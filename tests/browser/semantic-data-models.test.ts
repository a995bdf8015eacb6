import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newAgent, ok, unknownId } from '../contract/fixture.ts';
import { foreignPostgres, runSql, shop } from '../harness/foreign.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser } from './fixture.ts';

const [one, phone] = [[{ scheme: 'light', width: 1280 }], [{ scheme: 'dark', width: 360 }]] as const;

let foreign: Awaited<ReturnType<typeof foreignPostgres>>;
beforeAll(async () => {
  foreign = await foreignPostgres(inject('postgresUrl'), ...shop);
});
afterAll(() => dropDatabase(foreign.url));

let connection: Promise<string> | undefined;
const connect = (at: InBrowser): Promise<string> => {
  connection ??= ok(
    at.api.post('/data-connections', {
      name: 'The shop',
      engine: 'postgres',
      configuration: foreign.settings,
    }),
  ).then(({ id }) => id);
  return connection;
};

/** A model of the shop, with a verified query of SQL. */
const create = async (at: InBrowser, name: string) => {
  const body = await ok(
    at.api.post('/semantic-data-models/scaffold-from-tables', {
      data_connection_id: await connect(at),
      tables: [{ table: 'orders' }, { table: 'customers' }],
      name,
    }),
  );
  const { warnings: _, ...model } = body;
  return ok(
    at.api.post('/semantic-data-models', {
      ...model,
      verified_queries: [
        {
          name: 'all_orders',
          question: 'How many orders are there?',
          sql: 'select count(id) as orders from orders',
          use_as_onboarding_question: true,
        },
      ],
    }),
  );
};

/** Replaces a part of the text of a model. */
const change = async (page: Page, from: string, to: string) => {
  const text = page.getByLabel('YAML of the model');
  const value = await text.inputValue();
  expect(value).toContain(from);
  await text.fill(value.replace(from, to));
};

describeInBrowser('semantic data models', (at) => {
  test('one is made of tables: they are chosen, the model is previewed, created as shown, and validated', async () => {
    await connect(at());
    const page = await at().open('/semantic-data-models');
    await page.getByText('There are no semantic data models yet.').waitFor();
    await expectAccessible(page, one);
    await page.getByRole('link', { name: 'New semantic data model' }).click();
    await page.getByRole('checkbox', { name: 'Select public.orders' }).check();
    await page.getByLabel('Search tables').fill('cust');
    await page.getByRole('row', { name: /orders/ }).waitFor({ state: 'hidden' });
    await page.getByRole('checkbox', { name: 'Select public.customers' }).check();
    await page.getByText('2 chosen, at most 50').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('row', { name: /total_amount.*SUM/i }).waitFor();
    await preview.getByRole('row', { name: /orders_to_customers/ }).waitFor();
    // It pushes its button below the window: one begins to read at its top.
    await preview.and(page.locator(':focus')).waitFor();
    await expectAccessible(page, phone);
    // Other choices need another preview.
    await page.getByLabel('Name', { exact: true }).fill('Sales');
    await preview.waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await preview.waitFor();
    await page.getByRole('button', { name: 'Create semantic data model' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sales' }).waitFor();
    await page.getByText(/Reads The shop\. It was not compared/).waitFor();
    await page.getByRole('button', { name: 'Validate' }).click();
    await page.getByText('The validation found no problem.').waitFor();
    await page.getByText(/It fits its database\. Validated/).waitFor();
    await runSql(foreign.url, "insert into orders values (4, 2, 1, '2026-03-01')");
    await page.getByRole('button', { name: 'Deep check' }).click();
    await page.getByText('The validation found no problem.').waitFor();
    await runSql(foreign.url, 'delete from orders where id = 4');
    await expectAccessible(page, one);
    await page.getByRole('link', { name: 'Semantic data models' }).first().click();
    await page.getByRole('row', { name: /Sales.*The shop.*2 datasets.*Valid/ }).waitFor();
    await expectAccessible(page, phone);
    await page.getByLabel('Filter').fill('nothing of the kind');
    await page.getByText('No semantic data models match 1 filter.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /Sales/ }).waitFor();
  });

  detail(
    'a document is imported, its problems lead to their lines, and two who edit see both versions',
    async () => {
      const { id } = await create(at(), 'Original');
      const document = await (await at().api.get(`/semantic-data-models/${id}/export`)).text;
      const page = await at().open(`/semantic-data-models/new?connection=${await connect(at())}`);
      expectFault(page, /422|412/);
      await page.getByRole('radio', { name: 'A document' }).check();
      await page.getByLabel('Document', { exact: true }).fill('version: [');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByText(/is neither YAML nor JSON/).waitFor();
      await expectAccessible(page, one);
      await page.getByLabel('Document', { exact: true }).fill(document);
      await page.getByLabel('Name', { exact: true }).fill('Copy');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByRole('heading', { level: 1, name: 'Copy' }).waitFor();
      await runSql(foreign.url, 'alter table orders rename column amount to total');
      await page.getByRole('button', { name: 'Validate' }).click();
      await page.getByText(/It has 1 error/).waitFor();
      await page.getByRole('link', { name: 'Show in YAML' }).first().click();
      const selected = () =>
        page.evaluate<string>(`(({ value = '', selectionStart, selectionEnd }) =>
        value.slice(selectionStart, selectionEnd))(document.activeElement)`);
      await expect.poll(selected).toContain('amount');
      await expectAccessible(page, phone);
      await runSql(foreign.url, 'alter table orders rename column total to amount');
      await change(page, 'name: orders\n', 'name: or ders\n');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(/Not saved: /).waitFor();
      await page
        .getByRole('button', { name: /^Line \d+$/ })
        .first()
        .click();
      await expect.poll(selected).toContain('or ders');
      await change(page, 'name: or ders\n', 'name: orders\n');
      await change(page, 'name: Copy\n', 'name: Mine\n');
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      await page.getByText('The text has no errors.').waitFor();
      const copy = page.url().match(/[0-9a-f-]{36}/)![0];
      const { semantic_model, data_connection_id } = await ok(at().api.get(`/semantic-data-models/${copy}`));
      const theirs = { name: 'Theirs', semantic_model, data_connection_id };
      await ok(at().api.put(`/semantic-data-models/${copy}`, theirs));
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/name: Theirs/).waitFor();
      await dialog.getByRole('button', { name: 'Write mine' }).click();
      await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
      expect((await ok(at().api.get(`/semantic-data-models/${copy}`))).verified_queries).toHaveLength(1);
    },
  );

  test('a question shows rows and the SQL that ran, is kept as a verified query, and a refusal says why', async () => {
    const { id } = await create(at(), 'Asked');
    const page = await at().open(`/semantic-data-models/${id}?tab=queries`);
    expectFault(page, /422/);
    await page.getByText('select count(id) as orders from orders').waitFor();
    await expectAccessible(page, one);
    await page.getByRole('link', { name: 'Run all_orders' }).click();
    const rows = page.getByRole('table', { name: 'Answer' });
    await rows.getByRole('cell', { name: '3', exact: true }).waitFor();
    await page.getByText(/Verified query: all_orders\./).waitFor();
    await page.getByRole('figure', { name: 'SQL that ran' }).getByText(/count/i).waitFor();
    await page.getByLabel('Question', { exact: true }).fill('total_amount by name');
    await page.keyboard.press('Enter');
    await rows.getByRole('row', { name: /Grace.*NULL/ }).waitFor();
    await rows.getByRole('cell', { name: '12.6', exact: true }).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Save as verified query' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as verified query' });
    await dialog.getByLabel('Name of the query').fill('amount_by_name');
    await expectAccessible(page, one);
    await page.keyboard.press('Enter');
    await page.getByText('Verified query saved').waitFor();
    await page.getByRole('radio', { name: 'In SQL' }).check();
    await page.getByLabel('SQL', { exact: true }).fill('select secret from elsewhere');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('sql: The table `elsewhere` does not exist.').waitFor();
    await page.getByRole('radio', { name: 'In words' }).check();
    await page.getByLabel('Question', { exact: true }).fill('What is the meaning of life?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('tab', { name: /Verified queries/ }).click();
    await page.getByRole('region', { name: 'amount_by_name' }).getByText('total_amount by name').waitFor();
  });

  detail(
    'one that agents use is not deleted: the refusal names them; the form of an agent attaches it',
    async () => {
      const { id } = await create(at(), 'Attached');
      const agent = await newAgent(at(), { name: 'Night clerk' });
      const page = await at().open(`/agents/${agent.id}?tab=tools`);
      expectFault(page, /412|404/);
      await page.getByRole('heading', { level: 1, name: 'Night clerk' }).waitFor();
      await page.getByRole('combobox', { name: 'Data models' }).press('ArrowDown');
      await page.getByRole('option', { name: 'Attached', exact: true }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page
        .getByText(/Agent saved|Saved/)
        .first()
        .waitFor();
      expect((await ok(at().api.get(`/agents/${agent.id}`))).semantic_data_model_ids).toEqual([id]);
      await page.goto(`${at().test.origin}/semantic-data-models/${id}`);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete semantic data model' });
      await dialog.getByRole('button', { name: 'Delete semantic data model' }).click();
      await dialog.getByRole('link', { name: 'Night clerk' }).waitFor();
      await expectAccessible(page, one);
      await ok(at().api.patch(`/agents/${agent.id}`, { semantic_data_model_ids: [] }));
      await dialog.getByRole('button', { name: 'Delete semantic data model' }).click();
      await page.getByText('Semantic data model deleted').waitFor();
      await page.goto(`${at().test.origin}/semantic-data-models/${id}`);
      await page.getByText('This does not exist.').waitFor();
      const member = await at().open(`/semantic-data-models/${unknownId}`, { as: 'member' });
      await member.getByText(/It requires the role builder/).waitFor();
    },
  );

  detail('the refusal to delete a data connection names the models that use it', async () => {
    const { name } = await create(at(), 'Keeps its connection');
    const page = await at().open(`/data-connections/${await connect(at())}`);
    expectFault(page, /412/);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete data connection' });
    await dialog.getByRole('button', { name: 'Delete data connection' }).click();
    await dialog.getByText(/Semantic data models use this/).waitFor();
    await dialog.getByRole('link', { name }).waitFor();
  });
});
