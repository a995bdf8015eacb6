import { expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

describeInBrowser('integrations', (at) => {
  test('a backend is tested before it is saved and afterwards, turned off and on, and never shows its secret', async () => {
    await using backend = await startOtlpReceiver();
    const page = await at().open('/integrations');
    await page.getByRole('link', { name: 'New integration' }).click();
    await page.getByLabel('Provider').click();
    await page.getByRole('option', { name: 'OTLP with basic authentication' }).click();
    await page.getByLabel('URL').fill(backend.url);
    await page.getByLabel('Username').fill('clerk');
    await page.getByLabel('Password', { exact: true }).fill('a-secret-value');
    const attributes = page.getByRole('group', { name: 'Resource attributes' });
    await attributes.getByRole('button', { name: 'Add' }).click();
    await attributes.getByLabel('Name 1').fill('service.name');
    await attributes.getByLabel('Value 1').fill('night-shift');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('The backend accepted a sample span.').waitFor();
    expect(backend.spans()[0]!.resource).toMatchObject({ 'service.name': 'night-shift' });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save integration' }).click();
    await page.getByRole('tab', { name: 'Health' }).waitFor();
    await page.getByText('Nothing was delivered yet.').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('The backend accepted a sample span.').waitFor();
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Off. No spans are sent to it.').waitFor();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Description').fill('House collector');
    // Another part of it is changed by a button meanwhile: that is no conflict.
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await page.getByRole('button', { name: 'Save integration' }).click();
    await page.getByRole('heading', { level: 1, name: 'House collector' }).waitFor();
    expect(await page.content()).not.toContain('a-secret-value');
    const [stored] = (await at().api.get('/observability/integrations')).body;
    expect(stored.settings).toMatchObject({
      username: 'clerk',
      password: 'a-secret-value',
      resource_attributes: { 'service.name': 'night-shift' },
    });
    await page.getByRole('tab', { name: 'Scopes' }).click();
    await page.getByRole('row', { name: /All agents/ }).waitFor();
    await page.getByRole('tab', { name: 'Dead letters' }).click();
    await page.getByText(/No dead letters/).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete integration' }).click();
    await page.getByText('Traces go nowhere yet.').waitFor();
  });

  detail('two people who edit at once see both versions, and the second decides', async () => {
    const { body } = await at().app.post('/integrations', {
      version: '1',
      settings: { provider: 'otlp_custom_headers', url: 'https://one.example/v1/traces' },
    });
    const page = await at().open(`/integrations/${body.id}?tab=settings`);
    expectFault(page, /412/);
    await page.getByLabel('Description').fill('Mine');
    await ok(at().app.put(`/integrations/${body.id}`, { description: 'Theirs' }));
    await page.getByRole('button', { name: 'Save integration' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Theirs', { exact: true }).waitFor();
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    expect((await ok(at().app.get(`/integrations/${body.id}`))).description).toBe('Mine');
  });

  detail('what was asked for before a save does not bring the old version back after it', async () => {
    const { body } = await at().app.post('/integrations', {
      version: '1',
      settings: { provider: 'otlp_custom_headers', url: 'https://one.example/v1/traces' },
    });
    const page = await at().open(`/integrations/${body.id}?tab=settings`);
    await page.getByLabel('Description').fill('Mine');
    const saved = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await page.route(`**/app/api/integrations/${body.id}`, async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      asked.resolve();
      await saved.promise;
      // It fails because the page does not wait for it any more.
      await route.fulfill({ response }).catch(() => {});
    });
    await asked.promise;
    const left = page.waitForEvent('requestfailed', (request) => request.url().endsWith(body.id));
    await page.getByRole('button', { name: 'Save integration' }).click();
    await left;
    saved.resolve();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
  });

  detail('dead letters that other replicas hold are said to be there, and to be included', async () => {
    const { body } = await at().app.post('/integrations', {
      version: '1',
      settings: { provider: 'otlp_custom_headers', url: 'https://two.example/v1/traces' },
    });
    const page = await at().open('/integrations');
    await page.route('**/dead-letters', async (route) => {
      const json = await (await route.fetch()).json();
      await route.fulfill({ json: { ...json, on_other_replicas: 3, total: 3 } });
    });
    await visit(page, `/integrations/${body.id}?tab=dead-letters`);
    await page.getByText(/^Other replicas hold 3 dead letters, which only they can list/).waitFor();
    await page.getByText('This replica holds no dead letters of the integration.').waitFor();
    await page.getByRole('button', { name: 'Retry all' }).waitFor();
    await expectAccessible(page, phone);
  });

  detail('a wrong address is an error at its field', async () => {
    const page = await at().open('/integrations/new');
    expectFault(page, /422|400/);
    await page.getByLabel('URL').fill('ftp://example.com');
    await page.getByRole('button', { name: 'Save integration' }).click();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
  });
});
