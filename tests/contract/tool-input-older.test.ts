import { type ServerContext, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import { ok, onPostgres } from './fixture.ts';
import { answer, form, useToolInput } from './tool-input-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const ask = ({ mcpReq }: ServerContext, message: string): Promise<Json> =>
  mcpReq.elicitInput({ message, requestedSchema: form } as never);
const idempotent = { annotations: { idempotentHint: true } };
const note = (message: string) =>
  `The tool asked for input ("${message}"), which needs an idempotent tool or protocol 2026-07-28.`;

describe('input that a tool of the older protocol asks for', () =>
  onPostgres((at) => {
    const { setUp, becomes, start, decide, accept, results, database, next } = useToolInput(at);

    test('in flight: an idempotent tool is called again, and the same questions get their answers', async () => {
      const seen: Json[] = [];
      const bank = await setUp(
        async (_, context) => {
          const first = await ask(context, 'First?');
          seen.push(first);
          if (first.action !== 'accept') return 'nothing';
          const second = await ask(context, 'Second?');
          seen.push(second);
          return `paid ${second.action}`;
        },
        { era: 'legacy', tool: idempotent },
      );
      const held = await start(bank);
      expect(held.pending_approvals).toMatchObject([
        { kind: 'input', mode: 'form', reason: 'First?', round: 1, input_schema: form },
      ]);
      expect(seen).toEqual([{ action: 'cancel' }]);
      await ok(decide(held, [accept({ code: answer })]));
      const second = await next(held);
      expect(second.pending_approvals).toMatchObject([{ reason: 'Second?', round: 2 }]);
      expect(await database()).not.toContain(answer);
      await ok(decide(second, [{ decision: 'deny' }]));
      await becomes(held.id, 'COMPLETED');
      const given = { action: 'accept', content: { code: answer, count: 3, sure: true } };
      expect(seen).toEqual([{ action: 'cancel' }, given, { action: 'cancel' }, given, { action: 'decline' }]);
      expect(await results(held.id)).toEqual([
        expect.objectContaining({ text: 'paid decline', is_error: false }),
      ]);
      expect(bank.server.calls).toHaveLength(3);
      expect(await at().sql`select from tool_inputs`).toEqual([]);
    });

    test('in flight: another tool is not called again, and the model is told', async () => {
      const bank = await setUp(async (_, context) => `got ${(await ask(context, 'Sure?')).action}`, {
        era: 'legacy',
      });
      const { id } = await start(bank, 'COMPLETED');
      expect(await results(id)).toEqual([
        expect.objectContaining({ text: `got cancel\n${note('Sure?')}`, is_error: false }),
      ]);
      expect(bank.server.calls).toHaveLength(1);
    });

    test('several in flight: all are told, and then one is made at a time', async () => {
      let open = () => {};
      let gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      let asks = true;
      const bank = await setUp(
        async (args, context) => {
          if (!asks) await new Promise((resolve) => setTimeout(resolve, 50));
          else if (args.amount === 5) {
            await until(async () => bank.server.calls.length === 2);
            await ask(context, 'Who?');
            open();
          } else await gate;
          return 'ok';
        },
        { era: 'legacy', tool: idempotent },
      );
      const { id } = await start(bank, 'COMPLETED', 2);
      expect((await results(id)).map(({ text }) => text)).toEqual([
        `ok\n${note('Who?')}`,
        `ok\n${note('Who?')}`,
      ]);
      expect(bank.server.mostAtOnce).toBe(2);
      asks = false;
      gate = Promise.resolve();
      bank.server.mostAtOnce = 0;
      await start(bank, 'COMPLETED', 4);
      expect(bank.server.mostAtOnce).toBe(1);
    });

    test('of addresses first (-32042): the call is made when a person has opened them', async () => {
      let opened = false;
      const elicitations = [
        { mode: 'url' as const, message: 'Log in.', url: 'https://example.com/in', elicitationId: 'e1' },
        { mode: 'url' as const, message: 'Agree.', url: 'https://example.com/agree', elicitationId: 'e2' },
      ];
      const bank = await setUp(
        () => {
          if (!opened) throw new UrlElicitationRequiredError(elicitations);
          return 'paid';
        },
        { era: 'legacy' },
      );
      const held = await start(bank);
      expect(held.pending_approvals).toMatchObject(
        elicitations.map(({ message, url }) => ({
          kind: 'input',
          mode: 'url',
          url,
          reason: message,
          round: 1,
        })),
      );
      opened = true;
      await ok(decide(held, [accept(), accept()]));
      await becomes(held.id, 'COMPLETED');
      expect(await results(held.id)).toEqual([expect.objectContaining({ text: 'paid' })]);

      opened = false;
      const other = await start(bank);
      const calls = bank.server.calls.length;
      await ok(decide(other, [accept(), { decision: 'deny' }]));
      await becomes(other.id, 'COMPLETED');
      expect(await results(other.id)).toEqual([
        expect.objectContaining({
          text: expect.stringMatching(/not called: a person declined/),
          is_error: true,
        }),
      ]);
      expect(bank.server.calls).toHaveLength(calls);
    });

    test('in flight, and then of addresses: what was answered before is not asked again', async () => {
      let opened = false;
      const elicitations = [
        { mode: 'url' as const, message: 'Log in.', url: 'https://example.com/in', elicitationId: 'e1' },
      ];
      const bank = await setUp(
        async (_, context) => {
          const { action, content } = await ask(context, 'Which?');
          if (action !== 'accept') return 'nothing';
          if (!opened) throw new UrlElicitationRequiredError(elicitations);
          return `paid with ${content.code}`;
        },
        { era: 'legacy', tool: idempotent },
      );
      const held = await start(bank);
      await ok(decide(held, [accept({ code: answer })]));
      const second = await next(held);
      expect(second.pending_approvals).toMatchObject([{ mode: 'url', reason: 'Log in.', round: 2 }]);
      opened = true;
      await ok(decide(second, [accept()]));
      await becomes(held.id, 'COMPLETED');
      expect(await results(held.id)).toEqual([expect.objectContaining({ text: `paid with ${answer}` })]);
      expect(bank.server.calls).toHaveLength(3);
    });

    test.each([
      ['allow_input is off', { server: { allow_input: false } }, false],
      ['a replica of an older release is alive', {}, true],
    ] as const)('is not offered where %s', async (_, options, older) => {
      if (older) {
        await at().sql`insert into replicas (id, name, roles, version, loops)
          values (gen_random_uuid(), 'older', '{}', '1.0.0', '[]')`;
      }
      try {
        const bank = await setUp(async (_args, context) => `got ${(await ask(context, 'Sure?')).action}`, {
          era: 'legacy',
          tool: idempotent,
          ...options,
        });
        const { id } = await start(bank, 'COMPLETED');
        expect(await results(id)).toEqual([
          expect.objectContaining({ text: expect.stringMatching(/does not support/), is_error: true }),
        ]);
        const modern = await setUp(() => ({ resultType: 'input_required', requestState: 'x' }), options);
        const { id: other } = await start(modern, 'COMPLETED');
        expect(modern.server.calls[0]!.params._meta).toMatchObject({
          'io.modelcontextprotocol/clientCapabilities': {},
        });
        expect((await results(other))[0].text).toMatch(
          /^The tool asks for something that agents cannot give: /,
        );
      } finally {
        await at().sql`delete from replicas where name = 'older'`;
      }
    });

    test('is refused with the reason if people cannot give it', async () => {
      const bank = await setUp(
        async (_, { mcpReq }) => {
          const requestedSchema = {
            type: 'object',
            properties: { x: { type: 'array', items: { type: 'string' } } },
          };
          return `got ${(await mcpReq.elicitInput({ message: '?', requestedSchema } as never)).action}`;
        },
        { era: 'legacy', tool: idempotent },
      );
      const { id } = await start(bank, 'COMPLETED');
      expect(await results(id)).toEqual([
        expect.objectContaining({
          text: expect.stringMatching(
            /^The tool asks for something that agents cannot give: a form whose field/,
          ),
          is_error: true,
        }),
      ]);
    });
  }));
