import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, newAgent, unknownId, withPlatform } from './fixture.ts';
import { type Operation, oneOfEach, operationsOf, type Resources } from './operations-fixture.ts';

/** What names nothing: an id of nothing, what is no id, what would end a statement, and text that cannot be stored. */
const strange = [
  unknownId,
  ...['x', "'%20or%201=1--", '..%2fagents', 'a%00', '%FF', '%ED%A0%80', '%F0%9F%98%80'],
];

describe('unknown ids', () =>
  withPlatform('postgres', (at) => {
    let one: Resources;
    let operations: Operation[];
    beforeAll(async () => {
      one = await oneOfEach(at());
      operations = (await operationsOf(at())).filter(({ ids }) => ids.length > 0);
      expect(operations.length).toBeGreaterThan(100);
    }, 240_000);
    afterAll(() => one?.[Symbol.asyncDispose]());

    /** Sends a request whose body is wrong, too. */
    const send = (operation: Operation, over: Record<string, string>) =>
      one
        .client(operation)
        .raw(
          operation.method,
          one.address(operation, over),
          ['GET', 'DELETE'].includes(operation.method) ? undefined : '{"zzz":5}',
          { headers: { 'content-type': 'application/json', accept: 'application/json' } },
        );
    const expectStatus = async (status: number, operation: Operation, over: Record<string, string>) => {
      const response = await send(operation, over);
      const where = `${operation.id} ${JSON.stringify(over)} ${response.text}`;
      expect(response.status, where).toBe(status);
      expectError(response, status);
    };

    test('an unknown or malformed id in any place of a path is 404, before the body is checked', async () => {
      for (const operation of operations) {
        for (const id of operation.ids) {
          for (const value of strange) await expectStatus(404, operation, { [id]: value });
        }
      }
    }, 240_000);

    test('what is below another resource of the same kind is 404', async () => {
      for (const operation of operations) {
        for (const id of operation.ids.slice(0, -1)) {
          await expectStatus(404, operation, { [id]: one.other(operation, id) });
        }
      }
    });

    test.each([
      ['worker', 'conversations', 5],
      ['conversational', 'schedules', 10],
    ])('a %s agent has no %s: 400', async (mode, what, least) => {
      const { id: agent_id } = await newAgent(at(), { mode });
      const of = operations.filter(({ path }) => path.startsWith(`/agents/{agent_id}/${what}`));
      expect(of.length).toBeGreaterThan(least);
      for (const operation of of) await expectStatus(400, operation, { agent_id });
    });
  }));
