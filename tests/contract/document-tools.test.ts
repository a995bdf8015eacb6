import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { docx, pdf, textPdf } from '../harness/documents.ts';
import { completion, startEndpoint } from '../harness/llm-endpoint.ts';
import { until } from '../harness/wait.ts';
import { newConversation, scripted } from './conversations-fixture.ts';
import { upload } from './files-fixture.ts';
import { type Fixture, newAgent, ok, withPlatform } from './fixture.ts';

const text = { type: 'string' };
const invoice = {
  type: 'object',
  properties: { invoice_number: text, total: { type: 'number' } },
  required: ['invoice_number'],
};

/** The results of the tool calls that the agent of a new conversation makes, with the files there. */
const resultsOf = async (
  at: Fixture,
  files: Record<string, string | Uint8Array>,
  steps: { tool: string; args: object }[],
): Promise<{ text: string; isError: boolean }[]> => {
  const { path, send } = await newConversation(at);
  for (const [name, content] of Object.entries(files)) await upload(at.api, path, name, content);
  await send({ content: scripted({ steps }) });
  const { data } = await ok(at.api.get(`${path}/messages?limit=200`));
  const results = data.filter(({ role }: { role: string }) => role === 'tool').reverse();
  expect(results).toHaveLength(steps.length);
  return results.map(({ content: [result] }: { content: { text: string; is_error: boolean }[] }) => ({
    text: result!.text,
    isError: result!.is_error,
  }));
};

const read = (args: object) => ({ tool: 'read_file', args });
const extract = (args: object) => ({ tool: 'extract_from_file', args });
const letterText = Array.from(
  { length: 300 },
  (_, i) => `<w:p><w:r><w:t>Line ${i} ${'y'.repeat(100)}</w:t></w:r></w:p>`,
).join('');
const longPage = (page: number) => ({
  texts: Array.from({ length: 50 }, (_, line) => ({
    x: 20,
    y: 20 + line * 14,
    text: `Page ${page} line ${line} ${'x'.repeat(90)}`,
  })),
});

describe('an agent with documents', () =>
  withPlatform('embedded', (at) => {
    test('reads them page by page, and is told where to go on', async () => {
      const files = {
        'long.pdf': pdf(Array.from({ length: 25 }, (_, i) => longPage(i + 1))),
        'letter.docx': docx(letterText),
        'page.html': '<html><head><title>T</title></head><body><p>Only &amp; this</p></body></html>',
        'odd.bin': new Uint8Array([0, 1, 2]),
        'locked.pdf': pdf([{}], { encrypted: true }),
      };
      const [first, second, one, past, letter, rest, html, odd, locked, wrong] = await resultsOf(
        at(),
        files,
        [
          read({ name: 'long.pdf' }),
          read({ name: 'long.pdf', page_from: 4, page_to: 5 }),
          read({ name: 'long.pdf', page_from: 25 }),
          read({ name: 'long.pdf', page_from: 26 }),
          read({ name: 'letter.docx' }),
          read({ name: 'letter.docx', offset: 20_000 }),
          read({ name: 'page.html' }),
          read({ name: 'odd.bin' }),
          read({ name: 'locked.pdf' }),
          read({ name: 'long.pdf', page_from: 3, page_to: 2 }),
        ],
      );
      expect(first!.text).toMatch(
        /BEGIN ([0-9a-f]{16}).*\[page 1\].*\[page 3\].*END \1.*go on with page_from 4\./s,
      );
      expect(first!.text).not.toMatch(/Page 4/);
      expect(second!.text).toMatch(/\[page 4\].*\[page 5\].*the end of page 5; the document has 25 pages/s);
      expect(one!.text).toMatch(/\[page 25\].*This is its end/s);
      expect(past!.text).toBe('The document has 25 pages.');
      expect(letter!.text).toMatch(/Line 0 .*go on with page_from 1 and offset 20000\./s);
      expect(letter!.text.length).toBeLessThan(20_300);
      expect(rest!.text).toMatch(/Line 299 .*This is its end/s);
      expect(html!.text).toMatch(/Only & this/);
      expect(html!.text).not.toMatch(/<p>|title/i);
      expect([odd!.text, locked!.text, wrong!.text].join('\n')).toMatch(
        /cannot be read.*encrypted.*page_to/s,
      );
      expect(await readdir(join(at().dataDir, 'tmp'))).toEqual([]);
    });

    test('extracts data, with how sure each value is', async () => {
      const files = { 'invoice.pdf': textPdf(['Invoice number: INV-7', 'Total: 1.234,75 EUR']) };
      const schema = invoice;
      const [found, ungrounded, none, badSchema] = await resultsOf(at(), files, [
        extract({ name: 'invoice.pdf', schema }),
        extract({ name: 'invoice.pdf', schema, instructions: 'mock:{"invoice_number":"INV-8","total":1}' }),
        extract({ name: 'nothing.pdf', schema }),
        extract({ name: 'invoice.pdf', schema: { type: 'array' } }),
      ]);
      const shown = JSON.parse(/\{.*\}/s.exec(found!.text)![0]);
      expect(shown).toEqual({
        data: { invoice_number: 'INV-7', total: 1234.75 },
        valid: true,
        fields: {
          '/invoice_number': { confidence: 'high', page: 1, line: 1, text: 'Invoice number: INV-7' },
          '/total': { confidence: 'medium', page: 1, line: 2, text: 'Total: 1.234,75 EUR' },
        },
        warnings: [],
      });
      expect(found!.text).toMatch(/are data.*BEGIN ([0-9a-f]{16}).*END \1/s);
      expect(ungrounded!.text).toMatch(/INV-8.*"confidence":"low".*not_grounded/s);
      expect(none!.text).toMatch(/There is no file of this name/);
      expect(badSchema!.text).toMatch(/schema/);
      expect([found, none, badSchema].map((result) => result!.isError)).toEqual([false, true, true]);
    });

    test('asks its own LLM, unless another is configured, and its tokens count', async () => {
      const schema = { type: 'object', properties: { invoice_number: text } };
      const args = { name: 'invoice.txt', schema };
      let calls = 0;
      await using endpoint = await startEndpoint(({ body }) => {
        const asksForJson = JSON.stringify(body).includes('You extract data from a document');
        if (asksForJson) return { body: completion({ content: '{"invoice_number":"INV-9"}' }) };
        calls++;
        return calls === 1
          ? {
              body: completion(
                {
                  tool_calls: [
                    {
                      id: 'c1',
                      type: 'function',
                      function: { name: 'extract_from_file', arguments: JSON.stringify(args) },
                    },
                  ],
                },
                'tool_calls',
              ),
            }
          : { body: completion({ content: 'Done.' }) };
      });
      const llm = await ok(
        at().api.post('/llm-configurations', {
          name: 'Own',
          kind: 'openai_compatible',
          model: 'own-model',
          base_url: endpoint.url,
          streaming: false,
        }),
      );
      const agent = await newAgent(at(), { llm_id: llm.id });
      const item = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
      await upload(at().api, `/work-items/${item.id}`, 'invoice.txt', 'Invoice number: INV-9\n');
      await ok(at().api.post(`/work-items/${item.id}/submit`));
      await until(async () => (await ok(at().api.get(`/work-items/${item.id}`))).status === 'COMPLETED');
      const { data } = await ok(at().api.get(`/work-items/${item.id}/messages`));
      expect(JSON.stringify(data)).toMatch(/INV-9.*high/s);
      const asked = endpoint.requests.filter(({ body }) => JSON.stringify(body).includes('You extract data'));
      expect(asked.map(({ body }) => (body as { model: string }).model)).toEqual(['own-model']);
      const { usage } = await ok(at().api.get(`/work-items/${item.id}`));
      // Two replies of the run and one of the extraction, of 21 tokens each.
      expect(usage.input_tokens).toBe(3 * 21);
    });
  }));
