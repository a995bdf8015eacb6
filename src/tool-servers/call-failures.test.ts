import { describe, expect, test } from 'vitest';
import { withDatabase } from '../../tests/harness/database.ts';
import { call, secret, useToolAttempts } from '../../tests/harness/tool-attempt.ts';
import type { Wire } from '../../tests/harness/tool-server.ts';

withDatabase('postgres', (open) => {
  const { setUp } = useToolAttempts(open);

  describe.each(['legacy', 'modern'] as const)('a call in the %s protocol', (era) => {
    const noAnswers: [string, Wire][] = [
      ['a stream that ends', 'end'],
      ['a stream that is cut', 'cut'],
      ['a reset', 'reset'],
      ['a body that is cut', 'short'],
      ['202', 'accepted'],
      ['a page', 'html'],
      ['the gateway, 504', { status: 504 }],
    ];
    const refusals: [string, Wire, RegExp][] = [
      ['503', { status: 503 }, /not called.*HTTP 503/],
      ['a redirect elsewhere', { status: 307, headers: { location: 'http://127.0.0.1:9/mcp' } }, /HTTP 307/],
    ];

    test('sends the arguments and the depth, and gives the text and the structured content', async () => {
      const { server, tools } = await setUp(
        [
          { name: 'echo' },
          {
            name: 'both',
            outputSchema: { type: 'object', required: ['n'] },
            result: () => ({ content: [{ type: 'text', text: 'see' }], structuredContent: { n: 1 } }),
          },
          {
            name: 'same',
            outputSchema: { type: 'object' },
            result: () => ({
              content: [{ type: 'text', text: '{ "b": 1, "a": 2 }' }],
              structuredContent: { a: 2, b: 1 },
            }),
          },
        ],
        { headers: { 'X-Key': secret } },
        { era },
      );
      expect(await call(tools, 'echo', { a: [1, 'é'] }, 2)).toEqual({
        text: '{"a":[1,"é"]}',
        isError: false,
      });
      expect(server.calls[0]!.headers['agent-platform-depth']).toBe('3');
      expect(server.calls[0]!.headers['x-key']).toBe(secret);
      expect((await call(tools, 'both')).text).toBe('see\n{"n":1}');
      expect((await call(tools, 'same')).text).toBe('{ "b": 1, "a": 2 }');
    });

    test.each(noAnswers)(
      'without an answer (%s) is repeated once if that is harmless, else its outcome is unknown',
      async (_, wire) => {
        const { server, tools } = await setUp(
          [
            { name: 'pay', wire: () => wire },
            { name: 'look', annotations: { readOnlyHint: true }, wire: () => wire },
            {
              name: 'retry',
              annotations: { idempotentHint: true },
              wire: (n) => (n === 0 ? wire : undefined),
            },
          ],
          {},
          { era },
        );
        expect(await call(tools, 'pay')).toEqual({
          text: expect.stringContaining('not known'),
          isError: true,
          outcomeUnknown: true,
        });
        expect(server.calls).toHaveLength(1);
        expect(await call(tools, 'look')).toEqual({
          text: expect.stringContaining('no answer'),
          isError: true,
        });
        expect(server.calls).toHaveLength(3);
        expect(await call(tools, 'retry', { a: 1 })).toEqual({ text: '{"a":1}', isError: false });
        expect(server.calls).toHaveLength(5);
        // Each is noticed at once: the time of one call is longer than that of this test.
      },
    );

    test.each(refusals)(
      'that is refused (%s) is an error for the model, and not repeated',
      async (_, wire, text) => {
        const { server, tools } = await setUp(
          [{ name: 'pay', annotations: { idempotentHint: true }, wire: () => wire }],
          {},
          { era },
        );
        expect(await call(tools, 'pay')).toEqual({ text: expect.stringMatching(text), isError: true });
        expect(server.calls).toHaveLength(1);
      },
    );

    test.each([401, 403])('that is refused with %i says that the server refuses access', async (status) => {
      const { server, tools } = await setUp([{ name: 'look', wire: () => ({ status }) }], {}, { era });
      expect(await call(tools, 'look')).toEqual({
        text: `The tool was not called. The server refused the call (HTTP ${status}).`,
        isError: true,
        unauthorized: expect.stringMatching(new RegExp(`refuses access.*HTTP ${status}`)),
      });
      expect(server.calls).toHaveLength(1);
    });

    test('that makes the server fail may have taken effect, and the model gets to know why', async () => {
      const error = { code: -32602, message: `x is missing, and the key is ${secret}` };
      const wireOf = (status: number) => () => ({ status, body: JSON.stringify({ error }) });
      const { server, tools } = await setUp(
        [
          { name: 'fails', wire: wireOf(500) },
          { name: 'refuses', wire: wireOf(422) },
        ],
        { headers: { 'X-Key': secret } },
        { era },
      );
      expect((await call(tools, 'fails')).text).toBe(
        'The server failed during the call, which may have taken effect (HTTP 500): x is missing, and the key is [redacted]',
      );
      expect((await call(tools, 'refuses')).text).toBe(
        'The tool was not called. The server refused the call (HTTP 422): x is missing, and the key is [redacted]',
      );
      expect(server.calls).toHaveLength(2);
    });

    test('that takes too long has no answer', async () => {
      const { server, tools } = await setUp(
        [{ name: 'slow', wire: () => 'silence' }],
        { call_timeout_seconds: 1 },
        { era },
      );
      expect(await call(tools, 'slow')).toMatchObject({ outcomeUnknown: true });
      expect(server.calls).toHaveLength(1);
    });

    test('that the server answers with an error has an answer', async () => {
      const { server, tools } = await setUp(
        [
          { name: 'fails', result: () => ({ content: [{ type: 'text', text: 'no money' }], isError: true }) },
          {
            name: 'throws',
            result: () => {
              throw new Error(`cannot use ${secret}`);
            },
          },
          {
            name: 'wrong',
            outputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
            result: () => ({ content: [{ type: 'text', text: 'paid' }], structuredContent: { n: 'x' } }),
          },
        ],
        { headers: { 'X-Key': secret } },
        { era },
      );
      expect(await call(tools, 'fails')).toEqual({ text: 'no money', isError: true });
      expect(await call(tools, 'throws')).toEqual({
        text: expect.stringContaining('[redacted]'),
        isError: true,
      });
      const wrong = await call(tools, 'wrong');
      expect(wrong).toEqual({
        text: expect.stringMatching(/^The tool ran, but.*n must be integer\npaid/s),
        isError: true,
      });
      expect(server.calls).toHaveLength(3);
    });

    test('that is aborted ends at once and is not repeated', async () => {
      const { server, tools } = await setUp(
        [{ name: 'slow', annotations: { idempotentHint: true }, wire: () => 'silence' }],
        {},
        { era },
      );
      const ending = new AbortController();
      const calling = call(tools, 'slow', {}, 0, ending.signal);
      await expect.poll(() => server.calls.length).toBe(1);
      ending.abort(new Error('cancelled'));
      await expect(calling).rejects.toThrow('cancelled');
      expect(server.calls).toHaveLength(1);
    });
  });

  test('a call in a session that the server has forgotten is made in a new one', async () => {
    const { server, tools } = await setUp([{ name: 'pay' }], {}, { era: 'legacy', sessions: true });
    expect((await call(tools, 'pay')).isError).toBe(false);
    server.forgetSessions();
    const results = await Promise.all([call(tools, 'pay', { n: 1 }), call(tools, 'pay', { n: 2 })]);
    expect(results.map(({ text }) => text)).toEqual(['{"n":1}', '{"n":2}']);
    // One for the discovery, one for the first call, one for the two others.
    expect(server.count('initialize')).toBe(3);
  });
});
