import { expect, test } from 'vitest';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';
import { newId } from '../../src/lib/ids.ts';
import { newAgent, ok } from '../contract/fixture.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { describeInBrowser, type InBrowser, visit } from './fixture.ts';

const second = 1_000_000_000n;
const hex = (bytes: number): string =>
  newId()
    .replaceAll('-', '')
    .slice(-2 * bytes)
    .padStart(2 * bytes, '1');

const send = async (at: InBrowser, spans: TestSpan[]): Promise<void> => {
  const body = encodeRequest([{ attributes: { 'service.name': 'shop' }, scopes: [{ spans }] }]);
  const response = await fetch(`${at.test.origin}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  });
  expect(response.status).toBe(200);
};

/** A run of a clerk, `seconds` long, with one call of its model and one of a tool, that fails if `error` is set. */
const runOf = (traceId: string, seconds: number, error?: string): TestSpan[] => {
  const [root, chat, tool] = [hex(8), hex(8), hex(8)];
  const start = BigInt(Date.now() - 60_000) * 1_000_000n;
  const end = start + BigInt(seconds) * second;
  const agent = { 'gen_ai.agent.id': 'clerk', 'gen_ai.agent.name': 'Refund clerk' };
  const messages = [{ role: 'assistant', parts: [{ type: 'text', content: 'I look it up.' }] }];
  return [
    {
      traceId,
      spanId: root,
      name: 'invoke_agent Refund clerk',
      start,
      end,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', ...agent },
    },
    {
      traceId,
      spanId: chat,
      parentSpanId: root,
      name: 'chat gpt-5',
      start,
      end: start + second,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5',
        'gen_ai.usage.input_tokens': 1_000,
        'gen_ai.usage.output_tokens': 20 + seconds,
        'agent_platform.cost.nano_usd': 1_000_000 * seconds,
        'gen_ai.output.messages': JSON.stringify(messages),
        ...agent,
      },
    },
    {
      traceId,
      spanId: tool,
      parentSpanId: root,
      name: `execute_tool ${error ? 'pay' : 'look_up'}`,
      start: start + second,
      end,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': error ? 'pay' : 'look_up',
        ...(error ? { 'error.type': 'timeout' } : {}),
        ...agent,
      },
      ...(error ? { error } : {}),
    },
  ];
};

describeInBrowser('Traces', (at) => {
  const stored = (traceId: string) =>
    until(async () => (await at().api.get(`/traces/${traceId}`)).status === 200);

  test('are found by what failed, read span by span with the keyboard, and compared', async () => {
    const [good, bad] = [hex(16), hex(16)];
    await send(at(), [...runOf(good, 3), ...runOf(bad, 5, 'The bank did not reply.')]);
    await stored(bad);
    const page = await at().open('/traces');
    await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
    const list = page.getByRole('table', { name: 'Traces' });
    await list.getByRole('row', { name: /invoke_agent Refund clerk.*OK/ }).waitFor();
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: 'Tool', exact: true }).click();
    await page.getByRole('option', { name: 'pay' }).click();
    await expect.poll(() => list.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain('tool=pay');
    await list
      .getByRole('row', { name: /timeout/ })
      .getByRole('link')
      .first()
      .click();

    await page.getByText('Failed after 5 s.').waitFor();
    const tree = page.getByRole('region', { name: 'Waterfall' }).getByRole('treegrid');
    const panel = page.getByRole('region', { name: 'Span' });
    await tree.getByRole('row', { name: /execute_tool pay failed/ }).waitFor();
    await page.getByRole('button', { name: 'Go to the error' }).click();
    await panel.getByText('The bank did not reply.').waitFor();
    await expectAccessible(page, wide);
    await tree.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await panel.getByRole('tab', { name: 'Messages' }).click();
    await panel.getByText('I look it up.').waitFor();
    await panel.getByRole('tab', { name: 'Attributes' }).click();
    await panel.getByText('gen_ai.usage.input_tokens').waitFor();
    await tree.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    expect(await tree.getByRole('row').count()).toBe(2);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => tree.getByRole('row').count()).toBe(4);
    await expectAccessible(page, phone);

    await page.getByRole('button', { name: 'Compare with…' }).click();
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /Refund clerk/ })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Compare traces' }).waitFor();
    const differences = page.getByRole('table', { name: 'Differences' });
    await differences.getByRole('row', { name: /execute_tool pay.*Only in A/ }).waitFor();
    await differences.getByRole('row', { name: /execute_tool look_up.*Only in B/ }).waitFor();
    await differences.getByRole('row', { name: /chat gpt-5.*1,025 → 1,023/ }).waitFor();
    await expectAccessible(page, wide);
  });

  test('of a Work Item are on its page, an attempt at a time, also for a member', async () => {
    const agent = await newAgent(at(), { name: 'Night clerk' });
    const payload = { mock: { steps: [{ text: 'All is reconciled.' }] } };
    const { id } = await ok(at().api.post('/work-items', { agent_id: agent.id, message: 'x', payload }));
    await until(async () => (await ok(at().api.get(`/work-items/${id}`))).status === 'COMPLETED');
    const { trace_id } = await ok(at().api.get(`/work-items/${id}/trace`));
    await stored(trace_id);
    const page = await at().open(`/work-items/${id}?tab=traces`, { as: 'member' });
    const tree = page.getByRole('region', { name: 'Waterfall' }).getByRole('treegrid');
    await tree.getByRole('row', { name: /chat mock/ }).click();
    expect(await page.getByLabel('Attempt', { exact: true }).inputValue()).toBe('1');
    const panel = page.getByRole('region', { name: 'Span' });
    await panel.getByRole('tab', { name: 'Messages' }).click();
    await panel.getByText('All is reconciled.').waitFor();
    await expectAccessible(page, wide);
    const status = await at().open('/status');
    await status
      .getByRole('region', { name: 'Trace store' })
      .getByText('Traces are kept as they come.')
      .waitFor();
  });

  test('with 10,000 spans are drawn at once, and only rows in view are rendered', async () => {
    const [traceId, root] = [hex(16), hex(8)];
    const start = BigInt(Date.now()) * 1_000_000n;
    const own = { traceId, start, end: start + second };
    const spans = [{ ...own, spanId: root, name: 'crawl' }];
    for (let i = 1; i < 10_000; i++) {
      const spanId = `f${i.toString(16).padStart(15, '0')}`;
      spans.push({ ...own, spanId, ...{ parentSpanId: root }, name: `page ${i}` });
    }
    for (let i = 0; i < spans.length; i += 2_500) await send(at(), spans.slice(i, i + 2_500));
    await until(async () => (await at().api.get(`/traces/${traceId}?limit=1`)).body.span_count === 10_000);
    const page = await at().open('/traces');
    await page.getByRole('heading', { level: 1, name: 'Traces' }).waitFor();
    await visit(page, `/traces/${traceId}`);
    const tree = page.getByRole('treegrid');
    await tree.getByRole('row', { name: /crawl/ }).waitFor();
    await tree.focus();
    await page.keyboard.press('End');
    await tree
      .getByRole('row', { name: /page 9\d\d\d/ })
      .first()
      .waitFor();
    expect(await tree.getAttribute('aria-rowcount')).toBe('10001');
    expect(await tree.getByRole('row').count()).toBeLessThan(100);
  });
});
