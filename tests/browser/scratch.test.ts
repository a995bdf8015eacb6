import { inject, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { foreignPostgres, runSql, shop } from '../harness/foreign.ts';
import { showAs } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('x', (at) => {
  test('shots', async () => {
    const foreign = await foreignPostgres(
      inject('postgresUrl'),
      ...shop,
      "comment on table orders is 'What customers ordered.'",
      "comment on column orders.placed_on is 'When the order came in.'",
    );
    const a = await ok(
      at().api.post('/data-connections', {
        name: 'The shop',
        engine: 'postgres',
        configuration: foreign.settings,
      }),
    );
    const { warnings: _, ...body } = await ok(
      at().api.post('/semantic-data-models/scaffold-from-tables', {
        data_connection_id: a.id,
        tables: [{ table: 'orders' }, { table: 'customers' }],
        name: 'Sales',
      }),
    );
    body.semantic_model.metrics[0].ai_context = { synonyms: ['turnover', 'revenue'] };
    const m = await ok(
      at().api.post('/semantic-data-models', {
        ...body,
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
    const page = await at().open('/semantic-data-models/new');
    const shot = async (name: string) => {
      for (const [scheme, width] of [
        ['light', 1280],
        ['dark', 1280],
        ['light', 360],
      ] as const) {
        await showAs(page, { scheme, width });
        await page.screenshot({ path: `/tmp/hp/m-${name}-${scheme}-${width}.png`, fullPage: true });
      }
      await showAs(page, { scheme: 'light', width: 1280 });
    };
    await page.getByRole('checkbox', { name: 'Select public.orders' }).check();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('region', { name: 'Preview' }).waitFor();
    await shot('new');
    await runSql(foreign.url, 'alter table orders rename column amount to total');
    await page.goto(`${at().test.origin}/semantic-data-models/${m.id}`);
    await page.getByRole('button', { name: 'Validate' }).click();
    await page.getByText(/It has 1 error/).waitFor();
    await shot('model');
    await page.getByRole('link', { name: 'Show in YAML' }).first().click();
    await page.getByLabel('YAML of the model').waitFor();
    await shot('yaml');
    await page.getByRole('tab', { name: /Verified/ }).click();
    await page.getByText('select count').waitFor();
    await shot('queries');
    await runSql(foreign.url, 'alter table orders rename column total to amount');
    await page.getByRole('tab', { name: 'Ask' }).click();
    await page.getByLabel('Question', { exact: true }).fill('total_amount by name');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Answer' }).waitFor();
    await shot('ask');
  });
});
