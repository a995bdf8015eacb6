import { afterEach, describe, expect, test, vi } from 'vitest';
import { addressOf } from './operations.ts';
import { ApiProblem, onFailure, request, withQuery } from './request.ts';

const respond = (status: number, body: string, headers: Record<string, string> = {}) => {
  const sent: RequestInit[] = [];
  vi.stubGlobal('fetch', async (_address: string, init: RequestInit) => {
    sent.push(init);
    return new Response(status === 204 ? null : body, { status, headers });
  });
  return sent;
};

afterEach(() => vi.unstubAllGlobals());

describe('a request', () => {
  test('has its values encoded in path and query', () => {
    expect(addressOf('getAgent', { agent_id: 'a/b ?' })).toBe('/api/v2/agents/a%2Fb%20%3F');
    expect(withQuery('/x', { q: 'a&b', status: ['A', 'B'], next: undefined, none: '', zero: 0 })).toBe(
      '/x?q=a%26b&status=A&status=B&zero=0',
    );
    expect(withQuery('/x')).toBe('/x');
  });

  test('carries what makes a change safe', async () => {
    const sent = respond(200, '{}', { etag: '"7"' });
    const reply = await request('PUT', '/x', { body: { a: 1 }, ifMatch: '"6"', idempotencyKey: 'once' });
    expect(sent[0]).toMatchObject({ method: 'PUT', body: '{"a":1}', credentials: 'same-origin' });
    expect(sent[0]!.headers).toMatchObject({ 'if-match': '"6"', 'idempotency-key': 'once' });
    expect(reply).toEqual({ body: {}, etag: '"7"' });
  });

  test('returns nothing for a response without a body', async () => {
    respond(204, '');
    expect((await request('DELETE', '/x')).body).toBeUndefined();
  });

  test('throws the error of the API, and says so to who listens', async () => {
    const details = [{ path: 'name', message: 'must be one line' }];
    respond(
      422,
      JSON.stringify({ error: { code: 'unprocessable_entity', message: 'no', error_id: 'e1', details } }),
    );
    const heard: ApiProblem[] = [];
    const end = onFailure((problem) => heard.push(problem));
    const problem = await request('POST', '/x').catch((error: unknown) => error as ApiProblem);
    end();
    expect(problem).toMatchObject({ status: 422, code: 'unprocessable_entity', errorId: 'e1', details });
    expect(heard).toEqual([problem]);
  });

  test('throws an error for what a proxy responds', async () => {
    respond(502, '<html>Bad gateway</html>');
    await expect(request('GET', '/x')).rejects.toMatchObject({ status: 502, errorId: null, details: [] });
  });

  test('throws `unreachable` without a response, and the abort of its signal as it is', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    await expect(request('GET', '/x')).rejects.toMatchObject({ status: 0, code: 'unreachable' });
    const aborted = AbortSignal.abort();
    await expect(request('GET', '/x', { signal: aborted })).rejects.not.toBeInstanceOf(ApiProblem);
  });

  test('ends as `timeout` if no response comes, or only a part of it: a read after 30 s, a change after 2 minutes', async () => {
    vi.useFakeTimers();
    try {
      const aborted = (signal: AbortSignal) =>
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      vi.stubGlobal('fetch', (_address: string, { signal }: RequestInit) => aborted(signal!));
      const ended: string[] = [];
      const send = (method: string) =>
        request(method, '/x').catch((problem: ApiProblem) => void ended.push(`${method} ${problem.code}`));
      const [read, change] = [send('GET'), send('POST')];
      await vi.advanceTimersByTimeAsync(29_999);
      expect(ended).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(ended).toEqual(['GET timeout']);
      await vi.advanceTimersByTimeAsync(90_000);
      expect(ended).toEqual(['GET timeout', 'POST timeout']);
      await Promise.all([read, change]);
      vi.stubGlobal('fetch', async (_address: string, { signal }: RequestInit) => ({
        ok: true,
        text: () => aborted(signal!),
      }));
      const part = send('GET');
      await vi.advanceTimersByTimeAsync(30_000);
      await part;
      expect(ended).toEqual(['GET timeout', 'POST timeout', 'GET timeout']);
    } finally {
      vi.useRealTimers();
    }
  });
});
