import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newKey, ok, query } from '../contract/fixture.ts';
import { newPerson } from '../contract/people-fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { describeInBrowser, detail, type InBrowser } from './fixture.ts';

/** An administrator with a key of their own, and with a key of the workspace that made another. */
const newMaker = async (at: InBrowser, label: string) => {
  const person = await newPerson(at, 'admin');
  const by = at.test.as(person.value, '/api/v2');
  const create = (name: string, maker = by) =>
    ok(maker.post('/api-keys', { name: `${label} ${name}`, role: 'member', owner: 'workspace' }), 201);
  const own = await ok(by.post('/api-keys', { name: `${label} laptop`, role: 'admin' }), 201);
  const shared = await ok(
    by.post('/api-keys', { name: `${label} pipeline`, role: 'admin', owner: 'workspace' }),
    201,
  );
  const made = await create('export', at.test.as(shared.value, '/api/v2'));
  return { person, own, shared, made };
};

const statusesOf = (at: InBrowser, keys: readonly { value: string }[]) =>
  Promise.all(keys.map(async ({ value }) => (await at.test.as(value, '/api/v2').get('/agents')).status));

/** Opens the dialog `item` of the menu of the row. */
const choose = async (page: Page, row: RegExp, item: string) => {
  await page.getByRole('row', { name: row }).first().hover();
  await page.getByRole('button', { name: row }).first().click();
  await page.getByRole('menuitem', { name: item }).click();
  return page.getByRole('dialog', { name: item });
};

const endThese = 'End these keys, too';

describeInBrowser('dialogs that name the keys that end', (at) => {
  detail('a person who is suspended: their keys pause, and those of the workspace end', async () => {
    const { person, own, shared, made } = await newMaker(at(), 'Suspended');
    // The last administrator cannot be suspended.
    await query(at(), sql`update users set name = 'Bea' where id = ${(await newPerson(at(), 'admin')).id}`);
    const page = await at().open('/users');
    const dialog = await choose(page, /Ada/, 'Suspend user');
    await dialog.getByText('These keys of the person pause:').waitFor();
    const [ownNames, madeNames] = await Promise.all(
      [0, 1].map((place) => dialog.getByRole('list').nth(place).getByRole('listitem').allTextContents()),
    );
    const lineOf = ({ name, prefix }: { name: string; prefix: string }) => `${name} ${prefix}…`;
    expect(ownNames).toContain(lineOf(own));
    expect(madeNames?.toSorted()).toEqual([made, shared].map(lineOf).toSorted());
    expect(await dialog.getByRole('checkbox', { name: endThese }).isChecked()).toBe(true);
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Suspend user' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await statusesOf(at(), [own, shared, made])).toEqual([401, 401, 401]);
    // Only the person's own keys come back.
    await ok(at().api.patch(`/users/${person.id}`, { status: 'active' }));
    expect(await statusesOf(at(), [own, shared, made])).toEqual([200, 401, 401]);
    await ok(at().api.delete(`/users/${person.id}`), 204);
  });

  detail('a lower role names them, a higher one does not; they stay if one says so', async () => {
    const { person, own, shared, made } = await newMaker(at(), 'Demoted');
    const page = await at().open('/users');
    const dialog = await choose(page, /Ada/, 'Change role');
    expect(await dialog.getByRole('list').count()).toBe(0);
    await dialog.getByLabel('Role').click();
    await page.getByRole('option', { name: /Member/ }).click();
    await dialog.getByText('These keys of the person do no more than the new role allows:').waitFor();
    await dialog.getByText(own.name).waitFor();
    await dialog.getByText(shared.name).waitFor();
    await dialog.getByRole('checkbox', { name: endThese }).uncheck();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await statusesOf(at(), [own, shared, made])).toEqual([200, 200, 200]);
    const again = await choose(page, /Ada/, 'Delete user');
    await again.getByText('These keys of the person are deleted:').waitFor();
    await again.getByText(own.name).waitFor();
    await again.getByText(made.name).waitFor();
    await expectAccessible(page, wide);
    await again.getByRole('button', { name: 'Delete user' }).click();
    await again.waitFor({ state: 'hidden' });
    expect(await statusesOf(at(), [own, shared, made])).toEqual([401, 401, 401]);
    expect((await at().api.get(`/users/${person.id}`)).status).toBe(404);
  });

  detail('a key that is revoked names what it made; a builder decides it by keyboard alone', async () => {
    const builder = { value: await at().keyOf('builder') };
    const by = at().test.as(builder.value, '/api/v2');
    const first = await ok(by.post('/api-keys', { name: 'Pods of the night', role: 'builder' }), 201);
    const made = await newKey(
      at(),
      'member',
      { name: 'Made by a pod' },
      at().test.as(first.value, '/api/v2'),
    );
    const deeper = await newKey(at(), 'member', { name: 'Deeper' }, at().test.as(first.value, '/api/v2'));
    const page = await at().open('/api-keys', { as: 'builder' });
    const menu = page.getByRole('button', { name: /Pods of the night/ });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rotate key' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'Revoke key' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Revoke key' });
    await dialog.getByText('It made these keys:').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    await expectAccessible(page, phone);
    const tabTo = async (name: string, role: 'checkbox' | 'button') => {
      const focused = dialog.getByRole(role, { name }).and(page.locator(':focus'));
      for (let i = 0; i < 8 && !(await focused.count()); i += 1) await page.keyboard.press('Tab');
      expect(await focused.count()).toBe(1);
    };
    await tabTo(endThese, 'checkbox');
    await page.keyboard.press('Space');
    await tabTo('Revoke key', 'button');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await statusesOf(at(), [first as { value: string }, made, deeper])).toEqual([401, 200, 200]);
  });
});
