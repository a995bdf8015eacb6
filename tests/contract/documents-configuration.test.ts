import { expect, test } from 'vitest';
import { ReaderServer } from '../harness/document-readers.ts';
import { expectError, faults, ok, onPostgres, unknownId } from './fixture.ts';

const path = '/document-intelligence';

onPostgres((at) => {
  test('documents are read by the platform itself until something is configured', async () => {
    const { api } = at();
    const defaults = {
      provider: 'embedded',
      settings: {},
      llm_id: null,
      ocr: 'auto',
      ocr_languages: ['eng'],
    };
    const unset = { configured: false, ...defaults, updated_at: null };
    expect(await ok(api.get(path))).toEqual(unset);
    expectError(await api.delete(path), 404);
    const put = await ok(api.put(path, { provider: 'embedded', settings: {}, ocr: 'off' }));
    expect(put).toEqual({ ...unset, configured: true, ocr: 'off', updated_at: expect.any(String) });
    const steps = [{ step: 'read', ok: true }];
    expect(await ok(api.post(`${path}/test`))).toMatchObject({ ok: true, steps });
    expect((await api.delete(path)).status).toBe(204);
    expect(await ok(api.get(path))).toEqual(unset);
  });

  test('the model that extracts is not deleted: the default model would get the documents', async () => {
    const { api } = at();
    const llm = await ok(api.post('/llm-configurations', { name: 'Reads', kind: 'mock', model: 'mock' }));
    await ok(api.put(path, { provider: 'embedded', settings: {}, llm_id: llm.id }));
    const { status, body } = await api.delete(`/llm-configurations/${llm.id}`);
    const message = 'Document intelligence uses this LLM configuration. Give it another one first.';
    expect([status, body.error]).toMatchObject([412, { llm_id: llm.id, message }]);
    expect(await ok(api.get(path))).toMatchObject({ llm_id: llm.id });
    await api.delete(path);
    expect((await api.delete(`/llm-configurations/${llm.id}`)).status).toBe(204);
  });

  test('a change that someone else made in the meantime is not written over, nor one after a deletion', async () => {
    const { api } = at();
    const auto = { provider: 'embedded', settings: {} };
    const matching = (etag: string | null) => ({ headers: { 'if-match': etag! } });
    const unset = (await api.get(path)).headers.get('etag');
    const first = await api.put(path, auto, matching(unset));
    expect(first.status, first.text).toBe(200);
    const mine = first.headers.get('etag');
    expectError(await api.put(path, auto, matching(unset)), 412);
    // The one that is made after a deletion is another one.
    expect((await api.delete(path)).status).toBe(204);
    expectError(await api.delete(path, matching(mine)), 404);
    await ok(api.put(path, auto));
    expectError(await api.put(path, auto, matching(mine)), 412);
    // Of two that begin at once without a configuration one is first.
    await api.delete(path);
    const both = await Promise.all([1, 2].map(() => api.put(path, auto, matching(unset))));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    await api.delete(path);
  });

  test('secrets are stored encrypted, never shown, and kept only for the same address', async () => {
    const { api } = at();
    const azure = { endpoint: 'https://one.example', api_key: 'secret-of-azure' };
    await ok(api.put(path, { provider: 'azure', settings: azure }));
    const shown = { endpoint: 'https://one.example', api_key_set: true };
    expect((await ok(api.get(path))).settings).toEqual(shown);
    const [row] = await at().sql`select * from document_intelligence`;
    expect(JSON.stringify(row)).not.toContain('secret-of-azure');
    await ok(
      api.put(path, { provider: 'azure', settings: { endpoint: 'https://one.example/' }, ocr: 'off' }),
    );
    const moved = { provider: 'azure', settings: { endpoint: 'https://two.example' } };
    expect(faults(await api.put(path, moved))).toEqual(['settings.api_key']);

    const headers = { 'X-Token': 'secret-of-http' };
    await ok(api.put(path, { provider: 'http', settings: { url: 'https://a.example/x', headers } }));
    const kept = await ok(api.put(path, { provider: 'http', settings: { url: 'https://a.example/x' } }));
    expect(kept.settings).toEqual({ url: 'https://a.example/x', header_names: ['X-Token'] });
    const other = await ok(api.put(path, { provider: 'http', settings: { url: 'https://b.example/x' } }));
    expect(other.settings).toEqual({ url: 'https://b.example/x', header_names: [] });
    const { text } = await at().api.get('/audits?limit=10');
    expect(text).toContain('document_intelligence.update');
    expect(text).not.toContain('secret-of');
    await at().api.delete(path);
  });

  test.each<[string, object]>([
    ['llm_id', { provider: 'embedded', settings: {}, llm_id: unknownId }],
    // One that is not installed.
    ['ocr_languages[1]', { provider: 'embedded', ocr_languages: ['eng', 'xyz'] }],
    ['settings.url', { provider: 'docling', settings: { url: 'ftp://x' } }],
    ['settings.url', { provider: 'http', settings: { url: 'http://169.254.169.254/x' } }],
  ])('422 naming %s for %j', async (name, body) => {
    const response = await at().api.put(path, body);
    expect([response.status, faults(response)]).toEqual([422, [name]]);
  });

  test('a reader is tested with a sample, and only with the secrets of its own address', async () => {
    const { api } = at();
    const server = await ReaderServer.start(() => ({
      body: { pages: [{ page: 1, width: 1, height: 1, lines: [{ text: 'Sample 4711', bbox: null }] }] },
    }));
    const body = { provider: 'http', settings: { url: server.url, headers: { 'X-Token': 'stored' } } };
    await ok(api.put(path, body));
    const steps = ['address', 'read'].map((step) => ({ step, ok: true }));
    expect(await ok(api.post(`${path}/test`))).toMatchObject({ ok: true, steps });
    await ok(api.post(`${path}/test`, { provider: 'http', settings: { url: `${server.url}/other` } }));
    expect(server.requests.map(({ headers }) => headers['x-token'])).toEqual(['stored', undefined]);
    expect(server.requests[0]!.body.toString('latin1')).toMatch(/^%PDF-/);
    await server.stop();
    const failed = await ok(api.post(`${path}/test`));
    expect(failed).toMatchObject({ ok: false, steps: [{}, { step: 'read', ok: false }] });
    await api.delete(path);
  });
});
