import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ok, unknownId } from '../contract/fixture.ts';
import { foreignPostgres, runSql, shop } from '../harness/foreign.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser } from './fixture.ts';

const both = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 360 },
] as const;
const [one, phone] = [both.slice(0, 1), both.slice(1)];
const secret = 'correct horse battery';
const reader = `page_reader_${process.pid}`;

let foreign: Awaited<ReturnType<typeof foreignPostgres>>;
const folder = mkdtempSync(join(tmpdir(), 'pages-sqlite-'));

beforeAll(async () => {
  foreign = await foreignPostgres(
    inject('postgresUrl'),
    ...shop,
    "comment on table orders is 'What customers ordered.'",
    'create schema archive',
    'create table archive.letters (id integer primary key, body text, sent boolean, at timestamptz)',
    `insert into archive.letters select n, case when n % 2 = 0 then 'Letter ' || n end, n % 2 = 0,
      timestamptz '2026-01-01 00:00Z' + n * interval '1 hour' from generate_series(1, 45) n`,
    `create role ${reader} login`,
    `grant usage on schema archive to ${reader}`,
    `grant select on customers, orders, archive.letters to ${reader}`,
  );
  const file = new DatabaseSync(join(folder, 'shop.db'));
  for (const statement of shop) file.exec(statement);
  file.close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await dropDatabase(foreign.url);
  await runSql(inject('postgresUrl'), `drop role ${reader}`);
});

const configuration = (more: object = {}) => ({
  ...foreign.settings,
  username: reader,
  password: secret,
  ...more,
});
const create = (at: InBrowser, fields: object = {}) =>
  ok(
    at.api.post('/data-connections', {
      name: 'The shop',
      engine: 'postgres',
      configuration: configuration(),
      ...fields,
    }),
  );

const choose = async (page: Page, field: string, option: string) => {
  await page.getByLabel(field, { exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
};

describeInBrowser(
  'data connections',
  (at) => {
    test('one is tested in steps before it is created, its tables are browsed, and the password is never shown', async () => {
      const page = await at().open('/data-connections');
      await page.getByText('There are no data connections yet.').waitFor();
      await expectAccessible(page, one);
      await page.getByRole('link', { name: 'New data connection' }).click();
      const { host, port, database, username } = foreign.settings;
      await page.getByLabel('Name', { exact: true }).fill('The shop');
      await page.getByLabel('Host', { exact: true }).fill(host);
      await page.getByLabel('Port', { exact: true }).fill(String(port));
      await page.getByLabel('Database', { exact: true }).fill(database);
      await page.getByLabel('Username', { exact: true }).fill(username);
      await page.getByLabel('Password', { exact: true }).fill(secret);
      await choose(page, 'TLS', 'Off');
      await page.getByLabel('Tags', { exact: true }).fill('sales\neurope');
      await page.getByRole('button', { name: 'Test', exact: true }).click();
      const result = page.getByRole('region', { name: 'Test result' });
      await result.getByText('The database can be read.').waitFor();
      expect(await result.textContent()).toMatch(
        /Name look-up.*Connection.*Authentication.*Read-only.*Query/,
      );
      // The user of the tests is a superuser.
      await page
        .getByText(/The user may change data/)
        .first()
        .waitFor();
      await page.getByText(/REQUIRE_READ_ONLY_CREDENTIALS/).waitFor();
      await expectAccessible(page, one);
      await page.getByLabel('Username', { exact: true }).fill(reader);
      await page.getByRole('button', { name: 'Create data connection' }).click();
      await page.getByRole('heading', { level: 1, name: 'The shop' }).waitFor();
      await page.getByText(/It responds\. Last attempt/).waitFor();
      await page.getByRole('row', { name: /orders.*public, What customers ordered\..*4 columns/ }).waitFor();
      await expectAccessible(page, phone);
      await page.getByLabel('Filter').fill('ETTER');
      await page.getByRole('row', { name: /^customers/ }).waitFor({ state: 'hidden' });
      await page.getByRole('link', { name: /^letters/ }).click();
      const rows = page.getByRole('table', { name: 'First rows' });
      await rows.getByRole('cell', { name: 'Letter 20', exact: true }).waitFor();
      expect(await rows.getByRole('cell', { name: 'NULL', exact: true }).count()).toBe(10);
      const aligned = `[...document.querySelectorAll('table[aria-label="First rows"] th')].slice(0, 2)
        .map((cell) => getComputedStyle(cell).textAlign)`;
      expect(await page.evaluate(aligned)).toEqual(['right', 'left']);
      await page.getByRole('button', { name: 'Next rows' }).click();
      await page.getByRole('button', { name: 'Next rows' }).click();
      await page.getByText('Rows 41 to 45 of 45.').waitFor();
      await rows.getByRole('cell', { name: 'Letter 44', exact: true }).waitFor();
      await expectAccessible(page, both);
      await page.getByRole('link', { name: 'All tables' }).click();
      await page.getByLabel('Filter').fill('nothing of the kind');
      await page.getByText('No tables match 1 filter.').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('link', { name: /^orders/ }).click();
      const columns = page.getByRole('table', { name: 'Columns' });
      await columns.getByRole('row', { name: /^id.*integer.*primary key/ }).waitFor();
      await columns.getByRole('link', { name: 'to customers (id)' }).click();
      await columns.getByRole('row', { name: /^email.*may be NULL.*unique/ }).waitFor();
      await rows.getByText('ada@example.org').waitFor();
      expect(await page.content()).not.toContain(secret);
    });

    detail(
      'a file needs its path alone, and one that cannot be read says at which step, and is not created',
      async () => {
        const page = await at().open('/data-connections/new');
        expectFault(page, /422/);
        await choose(page, 'Engine', 'SQLite');
        await page.getByLabel('Name', { exact: true }).fill('A file');
        await page.getByLabel('Path', { exact: true }).fill('missing.db');
        await page.getByRole('button', { name: 'Create data connection' }).click();
        const result = page.getByRole('region', { name: 'Test result' });
        await result.getByText('The test failed.').waitFor();
        await result.getByText('There is no such file in SQLITE_DIR.').waitFor();
        await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('path');
        await expectAccessible(page, phone);
        await page.getByLabel('Path', { exact: true }).fill('shop.db');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { level: 1, name: 'A file' }).waitFor();
        await page.getByRole('link', { name: /^orders/ }).click();
        await page.getByRole('cell', { name: '12.5', exact: true }).waitFor();
        await page.getByRole('link', { name: 'Data connections' }).first().click();
        await page.getByRole('row', { name: /A file.*SQLite.*shop\.db.*Responds/ }).waitFor();
        await expectAccessible(page, both);
        await page.getByRole('button', { name: 'Engine' }).click();
        await page.getByRole('option', { name: 'MySQL' }).click();
        await page.getByText('No data connections match 1 filter.').waitFor();
        await page.getByRole('button', { name: 'Clear filters' }).click();
        await page.getByLabel('Filter').fill('a fi');
        await page.getByRole('row', { name: /A file/ }).waitFor();
      },
    );

    detail('the password goes to no other place, and two who edit see both versions', async () => {
      const { id } = await create(at());
      const page = await at().open(`/data-connections/${id}?tab=settings`);
      expectFault(page, /422|412/);
      const save = page.getByRole('button', { name: 'Save', exact: true });
      await page.getByRole('button', { name: 'Replace' }).waitFor();
      await page.getByLabel('Host', { exact: true }).fill('localhost');
      await page.getByText('Type it again').waitFor();
      await save.click();
      await page.getByText('must be given again, because host changes').waitFor();
      await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password');
      await expectAccessible(page, phone);
      await page.keyboard.type(secret);
      await page.getByLabel('Port', { exact: true }).fill('2');
      await save.click();
      await page.getByRole('region', { name: 'Test result' }).getByText('The test failed.').waitFor();
      await page.getByLabel('Port', { exact: true }).fill(String(foreign.settings.port));
      await save.click();
      await page.getByText('Data connection saved').waitFor();
      expect((await ok(at().api.get(`/data-connections/${id}`))).configuration.host).toBe('localhost');
      await page.getByLabel('Name', { exact: true }).fill('Mine');
      await ok(at().api.patch(`/data-connections/${id}`, { name: 'Theirs', tags: ['new'] }));
      await save.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Theirs', { exact: true }).waitFor();
      await expectAccessible(page, one);
      await dialog.getByRole('button', { name: 'Write mine' }).click();
      await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
      expect(await ok(at().api.get(`/data-connections/${id}`))).toMatchObject({ name: 'Mine', tags: [] });
      expect(await page.content()).not.toContain(secret);
    });

    detail(
      'a database that is away says so where its tables would be, and a connection is deleted',
      async () => {
        const url = await foreignPostgres(inject('postgresUrl'), 'create table a (b integer)');
        const { id } = await create(at(), { name: 'Away', configuration: url.settings });
        await dropDatabase(url.url);
        const page = await at().open(`/data-connections/${id}`);
        expectFault(page, /412|404/);
        await page.getByText(/The data connection cannot be used/).waitFor();
        await page.getByRole('button', { name: 'Try again' }).waitFor();
        await page.getByRole('button', { name: 'Test', exact: true }).click();
        await page.getByText('The test failed.').waitFor();
        await page.getByText(/It fails: /).waitFor();
        await expectAccessible(page, phone);
        await page.getByRole('button', { name: 'Delete', exact: true }).click();
        const dialog = page.getByRole('dialog', { name: 'Delete data connection' });
        await dialog.getByText('The database stays as it is.').waitFor();
        await expectAccessible(page, one);
        await dialog.getByRole('button', { name: 'Delete data connection' }).click();
        await page.getByText('Data connection deleted').waitFor();
        await page.goto(`${at().test.origin}/data-connections/${id}`);
        await page.getByText('This does not exist.').waitFor();
      },
    );

    detail('a member sees which role is needed, and a list that fails can be tried again', async () => {
      const member = await at().open(`/data-connections/${unknownId}`, { as: 'member' });
      await member.getByText(/It requires the role builder/).waitFor();
      const page = await at().open('/');
      expectFault(page, /500/);
      await page.route('**/api/v2/data-connections?*', (route) =>
        route.fulfill({ status: 500, json: { error: { message: 'Broken', error_id: 'e1' } } }),
      );
      await page.getByRole('link', { name: 'Data connections' }).click();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      await expectAccessible(page, one);
    });
  },
  { env: { SQLITE_DIR: folder } },
);
