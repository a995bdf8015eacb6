import { expect, test } from 'vitest';
import { newAgent, ok, unknownId } from '../contract/fixture.ts';
import { completion, startEndpoint, wireCall } from '../harness/llm-endpoint.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser, visit } from './fixture.ts';

const secret = 'sk-a-secret-value';

const create = (at: InBrowser, fields: object = {}) =>
  ok(at.api.post('/llm-configurations', { kind: 'mock', name: 'Spare', ...fields }));

describeInBrowser('LLM configurations', (at) => {
  test('a model is connected, tested in steps, made the default and changed, and its key is never shown', async () => {
    await using endpoint = await startEndpoint(({ body }) => ({
      body: completion(
        body.tools ? { tool_calls: [wireCall('c1', 'current_time', {})] } : { content: 'ready' },
      ),
    }));
    const page = await at().open('/llm-configurations');
    await page.getByRole('row', { name: /Built-in mock/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'New LLM configuration' }).click();
    await page.getByLabel('Name', { exact: true }).fill('House model');
    await page.getByLabel('Model', { exact: true }).fill('model-1');
    await page.getByLabel('Base URL').fill(endpoint.url);
    await page.getByLabel('API key', { exact: true }).fill(secret);
    await page
      .getByRole('group', { name: 'Additional headers' })
      .getByRole('button', { name: 'Add' })
      .click();
    await page.getByLabel('Name 1').fill('X-Team');
    await page.getByLabel('Value 1').fill('a-team-secret');
    await page.getByLabel('Read replies as they are generated').uncheck();
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: 'Create LLM configuration' }).click();
    await page.getByRole('heading', { level: 1, name: 'House model' }).waitFor();
    await page.getByText('OpenAI-compatible, model model-1. No agent uses it.').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const result = page.getByRole('region', { name: 'Test result' });
    await result.getByText('The model can do what agents need.').waitFor();
    expect(await result.textContent()).toMatch(
      /The model model-1-2026-01-01 replied “ready” in \d+ ms, with 21 input and 7 output tokens\..*Tool call.*Streaming/,
    );
    expect(endpoint.requests[0]!.headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      'x-team': 'a-team-secret',
    });
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Make default' }).click();
    await page.getByText(/model model-1\. The default\./).waitFor();
    await page.getByLabel('Model', { exact: true }).fill('model-2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('LLM configuration saved').waitFor();
    await page.getByText(/OpenAI-compatible, model model-2/).waitFor();
    expect(await page.content()).not.toMatch(/a-secret-value|a-team-secret/);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect.poll(() => endpoint.requests.at(-1)!.body.model).toBe('model-2');
    expect(endpoint.requests.at(-1)!.headers.authorization).toBe(`Bearer ${secret}`);
    await page.getByRole('link', { name: 'LLM configurations' }).first().click();
    await page.getByRole('row', { name: /House model.*Default/ }).waitFor();
    await page.getByLabel('Filter').fill('nothing of the kind');
    await page.getByText('No LLM configurations match 1 filter.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /House model/ }).waitFor();
  });

  detail('each kind has its own fields, and what is missing is an error at its field', async () => {
    const page = await at().open('/llm-configurations/new');
    expectFault(page, /4\d\d/);
    const labels = () => page.locator('form label').allTextContents();
    const fields: Record<string, string[]> = {
      'OpenAI-compatible': ['Base URL', 'API key'],
      OpenAI: ['Base URL', 'API key', 'Protocol', 'Organization', 'Project'],
      Anthropic: ['Base URL', 'API key'],
      'Azure OpenAI': ['Base URL', 'API key', 'Protocol', 'API version', 'Addresses name the deployment'],
      'Google Gemini': ['Base URL', 'API key'],
      'Amazon Bedrock': ['Base URL', 'Region', 'Credentials', 'API key'],
      'Built-in mock': [],
    };
    const common = [
      ...['Kind', 'Name', 'Model', 'Tokens of a reply', 'Tokens of a call', 'Temperature'],
      'Price as',
    ];
    for (const [kind, own] of Object.entries(fields)) {
      await page.getByLabel('Kind', { exact: true }).click();
      await page.getByRole('option', { name: kind, exact: true }).click();
      const shown = await labels();
      for (const label of [...common, ...own]) expect(shown.join('\n'), kind).toContain(label);
      expect(shown.length, kind).toBe(own.length + common.length + 4);
    }
    await page.getByLabel('Kind', { exact: true }).click();
    await page.getByRole('option', { name: 'Amazon Bedrock' }).click();
    await page.getByLabel('Credentials').click();
    await page.getByRole('option', { name: 'Access key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Far away');
    await page.getByLabel('Region').fill('eu-central-1');
    await page.getByLabel('Access key ID').fill('AKIA0123456789');
    await page.getByRole('button', { name: 'Create LLM configuration' }).click();
    // A field of a password, too, has the focus and its error.
    await expect
      .poll(() =>
        page.evaluate(`document.activeElement.getAttribute('aria-invalid') + document.activeElement.type`),
      )
      .toBe('truepassword');
    await expectAccessible(page, phone);
    await page.getByLabel('Secret access key', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Create LLM configuration' }).click();
    await page.getByRole('heading', { level: 1, name: 'Far away' }).waitFor();
    expect(await page.getByLabel('Base URL').inputValue()).toBe(
      'https://bedrock-runtime.eu-central-1.amazonaws.com',
    );
    await page.getByLabel('Base URL').fill('https://elsewhere.example');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('must be given again, or null, because the address changes').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Replace');
    await page.keyboard.press('Enter');
    await page.getByLabel('Secret access key', { exact: true }).fill('another-secret');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('LLM configuration saved').waitFor();
  });

  detail('two people who edit at once see both versions, and the second decides', async () => {
    const { id } = await create(at(), { name: 'Shared' });
    const page = await at().open(`/llm-configurations/${id}`);
    expectFault(page, /412/);
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await ok(at().api.patch(`/llm-configurations/${id}`, { name: 'Theirs', temperature: 1 }));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Theirs', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    expect(await ok(at().api.get(`/llm-configurations/${id}`))).toMatchObject({
      name: 'Mine',
      temperature: null,
    });
  });

  detail('one that agents use is not deleted: the refusal names them; afterwards it is gone', async () => {
    const { id } = await create(at());
    const page = await at().open(`/llm-configurations/${id}`);
    expectFault(page, /412|404/);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const agent = await newAgent(at(), { name: 'Night clerk', llm_id: id });
    const dialog = page.getByRole('dialog', { name: 'Delete LLM configuration' });
    await dialog.getByRole('button', { name: 'Delete LLM configuration' }).click();
    await dialog.getByText(/Agents use this LLM configuration/).waitFor();
    const link = dialog.getByRole('link', { name: 'Night clerk' });
    expect(await link.getAttribute('href')).toBe(`/agents/${agent.id}?tab=instructions`);
    await expectAccessible(page, wide);
    await ok(at().api.patch(`/agents/${agent.id}`, { llm_id: null }));
    await dialog.getByRole('button', { name: 'Delete LLM configuration' }).click();
    await page.getByText('LLM configuration deleted').waitFor();
    await visit(page, `/llm-configurations/${id}`);
    await page.getByText('This does not exist.').waitFor();
  });

  detail(
    'a builder sees the models and not their settings, a member which role is needed, and an error can be tried again',
    async () => {
      const { id } = await create(at(), { name: 'Known' });
      const page = await at().open('/llm-configurations', { as: 'builder' });
      await page.getByRole('row', { name: /Known.*not shown to your role/ }).waitFor();
      const add = page.getByRole('button', { name: 'New LLM configuration' });
      expect(await add.getAttribute('aria-disabled')).toBe('true');
      await visit(page, `/llm-configurations/${id}`);
      await page.getByText('The settings are shown to administrators.').waitFor();
      expect(await page.getByRole('button', { name: 'Test' }).getAttribute('aria-disabled')).toBe('true');
      await expectAccessible(page, wide);
      const member = await at().open(`/llm-configurations/${unknownId}`, { as: 'member' });
      await member.getByText(/It requires the role builder/).waitFor();
      const failing = await at().open('/status');
      expectFault(failing, /500/);
      await failing.route('**/app/api/llm-configurations?*', (route) =>
        route.fulfill({ status: 500, json: { error: { message: 'Broken', error_id: 'e1' } } }),
      );
      await failing.getByRole('link', { name: 'LLM configurations' }).click();
      await failing.getByRole('button', { name: 'Try again' }).waitFor();
      await expectAccessible(failing, wide);
      await failing.unroute('**/app/api/llm-configurations?*');
      await failing.getByRole('button', { name: 'Try again' }).click();
      await failing.getByRole('row', { name: /Known/ }).waitFor();
    },
  );
});
