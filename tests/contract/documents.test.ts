import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ReaderServer } from '../harness/document-readers.ts';
import { docx, pdf, scan, textPdf } from '../harness/documents.ts';
import { until } from '../harness/wait.ts';
import { newConversation } from './conversations-fixture.ts';
import { sendForm, upload } from './files-fixture.ts';
import { expectError, type Fixture, newKey, ok, onPostgres, setSettings, unknownId } from './fixture.ts';

const path = '/document-intelligence/extract';
const text = { type: 'string' };
const invoice = {
  type: 'object',
  properties: {
    invoice_number: text,
    total: { type: 'number', minimum: 0 },
    tags: { type: 'array', items: text },
    rows: { type: 'array', items: { type: 'object', properties: { name: text } } },
  },
  required: ['invoice_number'],
};
const lines = ['Acme Ltd.', 'Invoice number: INV-2041', 'Total: 1.234,75 EUR', 'Tags: a, b'];

interface Asked {
  name?: string;
  schema?: unknown;
  instructions?: string;
  options?: object;
}
/** Sends a document as a form. */
const send = (at: Fixture, content: string | Uint8Array, asked: Asked = {}, client = at.api) => {
  const { name = 'invoice.pdf', schema = invoice, instructions, options } = asked;
  return sendForm(client, path, [
    { name: 'schema', content: typeof schema === 'string' ? schema : JSON.stringify(schema) },
    ...(instructions === undefined ? [] : [{ name: 'instructions', content: instructions }]),
    ...(options === undefined ? [] : [{ name: 'options', content: JSON.stringify(options) }]),
    { name: 'file', filename: name, content },
  ]);
};
const ended = (at: Fixture, id: string) =>
  until(async () => {
    const found = await ok(at.api.get(`/extractions/${id}`));
    return found.finished_at !== null && found;
  });
const spooled = (at: Fixture) => readdir(join(at.dataDir, 'tmp')).catch(() => []);

onPostgres((at) => {
  test('data comes with where each value stands, encrypted at rest, and the document is not kept', async () => {
    const result = await ok(send(at(), textPdf(lines), { options: { include_text: true } }));
    expect(result).toMatchObject({
      status: 'COMPLETED',
      file: { name: 'invoice.pdf', content_type: 'application/pdf', pages: 1 },
      data: { invoice_number: 'INV-2041', total: 1234.75, tags: ['a', 'b'], rows: [] },
      valid: true,
      text: lines.join('\n'),
      provider: 'embedded',
      error: null,
    });
    expect(Object.keys(result.fields)).toEqual(['/invoice_number', '/total', '/tags/0', '/tags/1']);
    expect(result.fields['/invoice_number']).toMatchObject({
      confidence: 'high',
      citations: [{ page: 1, line: 2, text: 'Invoice number: INV-2041', bbox: { top: expect.any(Number) } }],
    });
    expect(result.fields['/total'].confidence).toBe('medium');
    expect(result.warnings).toMatchObject([{ code: 'not_checked', path: '/total' }]);
    expect(await ok(at().api.get(`/extractions/${result.id}`))).toEqual(result);
    const [row] = await at().sql`select * from extractions where id = ${result.id}`;
    expect(JSON.stringify(row)).not.toMatch(/INV-2041|invoice/);
    expect(await spooled(at())).toEqual([]);
  });

  test('what is not in the document is marked, and null if that is asked for', async () => {
    const instructions = 'mock:{"invoice_number":"INV-9","total":"1,234"}';
    const marked = await ok(send(at(), lines.join('\n'), { name: 'a.txt', instructions }));
    expect(marked).toMatchObject({ data: { invoice_number: 'INV-9', total: null, tags: [] }, valid: false });
    expect(marked.fields).toEqual({ '/invoice_number': { confidence: 'low', citations: [] } });
    const codes = ['not_checked', 'type_mismatch', 'missing', 'missing', 'not_grounded'];
    expect(marked.warnings).toMatchObject(codes.map((code) => ({ code })));
    const options = { require_grounding: true };
    const strict = await ok(send(at(), lines.join('\n'), { name: 'a.txt', instructions, options }));
    expect(strict).toMatchObject({ data: { invoice_number: null }, fields: {}, valid: false });
  });

  test('a whole number keeps all its digits, also when it is read again', async () => {
    const schema = { type: 'object', properties: { order: { type: 'integer' } } };
    const sent = await send(at(), 'Order: 9007199254740993', { name: 'a.txt', schema });
    const { id } = await ok(Promise.resolve(sent));
    const read = await at().api.get(`/extractions/${id}`);
    for (const { text } of [sent, read]) expect(text).toContain('"data":{"order":9007199254740993}');
  });

  test('office files and pictures are read', async () => {
    const schema = { type: 'object', properties: { order: { type: 'integer' } } };
    const paragraph = '<w:p><w:r><w:t>Order: 4711</w:t></w:r></w:p>';
    for (const [name, content] of [
      ['a.docx', docx(paragraph)],
      ['a.png', scan(['Order: 4711']).bytes],
    ] as const) {
      const result = await ok(send(at(), content, { name, schema }));
      expect(result.data, name).toEqual({ order: 4711 });
      expect(result.fields['/order']?.confidence, name).toBe('high');
    }
  });

  test('a file of a conversation is extracted by its id, for those who may use the conversation', async () => {
    const { path: of, id: conversation_id } = await newConversation(at());
    const file = await upload(at().api, of, 'a.md', 'Order: 7');
    const agent_id = of.split('/')[2];
    const schema = { type: 'object', properties: { order: { type: 'integer' } } };
    const body = { file: { agent_id, conversation_id, file_id: file.id }, schema };
    const result = await ok(at().api.post(path, body));
    expect(result).toMatchObject({ data: { order: 7 }, file: { name: 'a.md', sha256: file.sha256 } });
    expectError(await at().api.post(path, { ...body, file: { ...body.file, file_id: unknownId } }), 404);
    const stranger = at().as((await newKey(at(), 'member')).value);
    expectError(await stranger.post(path, body), 404);
  });

  test('without waiting the response is 202, and only its maker and admins see the extraction', async () => {
    const { value } = await newKey(at(), 'member');
    const { value: other } = await newKey(at(), 'member');
    const maker = at().as(value);
    const begun = await ok(send(at(), textPdf(lines), { options: { wait_seconds: 0 } }, maker), 202);
    expect(begun).toMatchObject({ data: null, finished_at: null });
    expect((await ended(at(), begun.id)).status).toBe('COMPLETED');
    expect((await maker.get(`/extractions/${begun.id}`)).status).toBe(200);
    expectError(await at().as(other).get(`/extractions/${begun.id}`), 404);
    expectError(await at().as(other).delete(`/extractions/${begun.id}`), 404);
    expect((await maker.delete(`/extractions/${begun.id}`)).status).toBe(204);
  });

  test('the pages asked for are read, with a limit', async () => {
    const document = textPdf(['Order 1'], ['Order 2'], ['Order 3']);
    const schema = { type: 'object', properties: { order: { type: 'integer' } } };
    const result = await ok(send(at(), document, { schema, options: { pages: ' 2-3, 9' } }));
    expect([result.data, result.file.pages]).toEqual([{ order: 2 }, 3]);
    await setSettings(at(), { MAX_EXTRACTION_PAGES: 2 });
    const refused = await ok(send(at(), document, { schema }));
    expect(refused).toMatchObject({ status: 'ERROR', error: { code: 'too_many_pages' }, data: null });
    await setSettings(at(), { MAX_EXTRACTION_PAGES: 100 });
  });

  test.each<[string, string | Buffer, string]>([
    ['encrypted', pdf([{}], { encrypted: true }), 'a.pdf'],
    ['unreadable', '%PDF-1.7 nothing', 'a.pdf'],
  ])('a document that is %s ends with that error', async (code, content, name) => {
    expect(await ok(send(at(), content, { name }))).toMatchObject({ status: 'ERROR', error: { code } });
    expect(await spooled(at())).toEqual([]);
  });

  test.each<[string, Asked & { content?: string | Buffer }, number, string | undefined]>([
    ['a file that is no document', { name: 'a.bin', content: Buffer.from([1, 2]) }, 422, 'file'],
    ['a schema that is not accepted', { schema: { type: 'object', anyOf: [] } }, 422, 'schema.anyOf'],
    ['pages that are no list', { options: { pages: '3-1' } }, 422, 'options.pages'],
    ['a schema that is no JSON', { schema: '{' }, 400, undefined],
  ])('%s is refused', async (_what, { content = 'x', name = 'a.txt', ...asked }, status, where) => {
    const response = await send(at(), content, { name, ...asked });
    expect(response.status, response.text).toBe(status);
    expect(response.body.error.details?.[0].path).toBe(where);
    expect(await spooled(at())).toEqual([]);
  });

  test('deleting an extraction closes the request to the reader, and a reader that refuses is an error', async () => {
    let closed = 0;
    const server = await ReaderServer.start((_request, _url, response) => {
      response.on('close', () => void closed++);
      return null;
    });
    await ok(at().api.put('/document-intelligence', { provider: 'http', settings: { url: server.url } }));
    const begun = await ok(send(at(), textPdf(lines), { options: { wait_seconds: 0 } }), 202);
    await until(() => server.requests.length === 1);
    expect(await ok(at().api.get(`/extractions/${begun.id}`))).toMatchObject({
      status: 'RUNNING',
      provider: 'http',
    });
    expect((await at().api.delete(`/extractions/${begun.id}`)).status).toBe(204);
    await until(() => closed === 1);
    await server.stop();
    const refused = await ok(send(at(), textPdf(lines)));
    expect(refused).toMatchObject({ status: 'ERROR', error: { code: 'reader_unavailable' } });
    await at().api.delete('/document-intelligence');
    await until(async () => (await spooled(at())).length === 0);
  });

  test('the pages that were read, when the result ends, and a list of one’s own, without results', async () => {
    const client = at().as((await newKey(at(), 'member')).value);
    const options = { include_pages: true };
    const made = await ok(send(at(), textPdf(lines, ['Second']), { options }, client));
    expect(made.pages).toMatchObject([
      { page: 1, aspect: 0.75, lines: lines.map((text) => ({ text, bbox: { left: expect.any(Number) } })) },
      { page: 2, aspect: 0.75, lines: [{ text: 'Second' }] },
    ]);
    expect(Object.keys(made.pages[0].lines[0])).toEqual(['text', 'bbox']);
    expect(Date.parse(made.expires_at) - Date.parse(made.finished_at)).toBe(24 * 3_600_000);
    const texts = [50, 300].map((x) => ({ x, y: 50, text: `At ${x}` }));
    const table = await ok(send(at(), pdf([{ texts }]), { options }, client));
    const [row] = table.pages[0].lines;
    expect(row.parts.map(({ text }: { text: string }) => text)).toEqual(['At 50', 'At 300']);
    expect(row.parts[1].bbox.left).toBeCloseTo(0.5, 2);
    const plain = await ok(send(at(), 'Invoice number: 7', { name: 'b.txt', options }, client));
    expect(plain.pages).toEqual([
      { page: 1, aspect: null, lines: [{ text: 'Invoice number: 7', bbox: null }] },
    ]);
    const { data, has_more, next } = await ok(client.get('/extractions?limit=1'));
    expect([data.length, data[0].id, has_more]).toEqual([1, plain.id, true]);
    const rest = await ok(client.get(`/extractions?next=${next}`));
    expect(rest.data.map(({ id }: { id: string }) => id)).toEqual([table.id, made.id]);
    expect(rest.data[1]).toMatchObject({ file: { name: 'invoice.pdf', pages: 2 }, valid: true });
    expect(rest.data[1]).not.toHaveProperty('data');
    const all = await ok(at().api.get('/extractions?limit=100'));
    expect(all.data.map(({ id }: { id: string }) => id)).not.toContain(made.id);
  });

  test('a file of a Work Item is read where it lies', async () => {
    const agent = await ok(at().api.post('/agents', { name: 'Reader', mode: 'worker' }));
    const item = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
    const file = await upload(at().api, `/work-items/${item.id}`, 'a.txt', 'Invoice number: W-1');
    const found = { work_item_id: item.id, file_id: file.id };
    const asked = (file: object) => at().api.post(path, { file, schema: invoice });
    expect((await ok(asked(found))).data.invoice_number).toBe('W-1');
    expectError(await asked({ ...found, work_item_id: unknownId }), 404);
  });

  test('an extraction of a replica that died ends as interrupted', async () => {
    const made = await ok(send(at(), 'Invoice number: 1', { name: 'a.txt' }));
    await at()
      .sql`update extractions set status = 'RUNNING', finished_at = null, replica = 'gone', alive_at = now() - interval '20 seconds' where id = ${made.id}`;
    expect(await ended(at(), made.id)).toMatchObject({ status: 'ERROR', error: { code: 'interrupted' } });
  });
});
