import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientResponse } from '../harness/http.ts';
import { expectError, ok, withPlatform } from './fixture.ts';
import { type Operation, oneOfEach, operationsOf, type Resources } from './operations-fixture.ts';

const model = { name: 'm', datasets: [{ name: 't', source: 'public.t', fields: [] }] };
const settings = { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/other' };

/** A body that changes something, of each operation that takes If-Match. */
const changes: Record<string, (one: Resources) => object | undefined> = {
  updateAgent: () => ({ name: 'changed' }),
  updateConversation: () => ({ name: 'changed' }),
  replaceSchedule: () => ({ cron_expression: '1 1 1 1 *' }),
  pauseSchedule: () => ({}),
  resumeSchedule: () => undefined,
  replaceTrigger: () => ({
    name: 'changed',
    kind: 'webhook',
    settings: { scheme: 'standard_webhooks' },
  }),
  pauseTrigger: () => ({}),
  resumeTrigger: () => undefined,
  rotateTriggerSecret: () => ({}),
  updateWorkItem: () => ({ message: 'changed' }),
  replaceObservabilityIntegration: () => ({ description: 'changed' }),
  updateObservabilityIntegration: () => ({ debug: true }),
  updateIntegration: () => ({ settings }),
  switchIntegration: () => ({ is_enabled: false }),
  updateLlmConfiguration: () => ({ name: 'changed' }),
  updateToolServer: () => ({ name: 'changed' }),
  updateDataConnection: () => ({ name: 'changed' }),
  updateEventConnection: () => ({ name: 'changed' }),
  replaceSemanticDataModel: ({ known }) => ({
    data_connection_id: known.data_connection_id,
    semantic_model: model,
    name: 'changed',
  }),
  putDocumentIntelligence: () => ({ provider: 'embedded', configuration: { pages: 3 } }),
  updateDataset: () => ({ description: 'changed' }),
  updateBudget: () => ({ limit: 9e14 }),
  updateAlertRule: () => ({ enabled: false }),
  updateChannel: () => ({ name: 'changed' }),
  updateRoute: () => ({ position: 7 }),
  updateCase: () => ({ enabled: false }),
  updateBranding: () => ({ workspace_name: 'changed' }),
};

/** What is done with an agent, and its body: each checks the revision of the agent. */
const actions: Record<string, object | undefined> = {
  publishAgent: {},
  rollBackAgent: { version: 1 },
  startCanary: { version: 1, percent: 1 },
  promoteCanary: undefined,
  abortCanary: undefined,
  discardAgentDraft: undefined,
  cancelAgentPublication: undefined,
};

/** In this order: what holds others comes after them. */
const deletions = [
  'deleteAlertRule',
  'deleteSchedule',
  'deleteTrigger',
  'deleteWorkItem',
  'deleteConversation',
  'deleteAgent',
  'deleteObservabilityIntegration',
  'deleteLlmConfiguration',
  'deleteToolServer',
  'deleteSemanticDataModel',
  'deleteDataConnection',
  'deleteEventConnection',
  'deleteDocumentIntelligence',
  'deleteCase',
  'deleteDataset',
  'deleteBudget',
  'deleteRoute',
  'deleteChannel',
];

describe('entity tags', () =>
  withPlatform('postgres', (at) => {
    let one: Resources;
    let operations: Map<string, Operation>;
    beforeAll(async () => {
      one = await oneOfEach(at());
      operations = new Map((await operationsOf(at())).map((operation) => [operation.id, operation]));
    }, 240_000);
    afterAll(() => one?.[Symbol.asyncDispose]());

    /** The path of the resource that an operation changes, below its base. */
    const resourceOf = (operation: Operation) =>
      one.address(operation).replace(/\/(pause|resume|rotate-secret)$/, '');
    const tagOf = async (operation: Operation): Promise<string> => {
      const isRead = [...operations.values()].some(
        ({ method, base, path }) => method === 'GET' && base === operation.base && path === operation.path,
      );
      const response = await (isRead ? one.client(operation) : at().api).get(resourceOf(operation));
      expect(response.status, `${operation.id} ${response.text}`).toBe(200);
      return response.headers.get('etag')!;
    };
    const send = (operation: Operation, ifMatch: string, body?: unknown) =>
      one
        .client(operation)
        .raw(
          operation.method,
          one.address(operation),
          body === undefined ? undefined : JSON.stringify(body),
          {
            headers: {
              'if-match': ifMatch,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
          },
        );

    /** Expects a 412, with what the resource adds to it. */
    const expectStale = async (sent: Promise<ClientResponse>) => {
      const { status, body } = await sent;
      expect([status, body?.error?.code]).toEqual([412, 'precondition_failed']);
    };

    test('If-Match is taken by the operations that are tested here, and by every change of what has an entity tag', () => {
      const all = [...operations.values()];
      const taking = all.filter(({ headers }) => headers.includes('If-Match')).map(({ id }) => id);
      expect(taking.toSorted()).toEqual(
        [...Object.keys(changes), ...Object.keys(actions), ...deletions].toSorted(),
      );
      const tagged = all.filter(
        ({ id, method, responses }) =>
          method !== 'GET' && !/^(create|import)/.test(id) && 'ETag' in (responses[200]?.headers ?? {}),
      );
      expect(tagged.map(({ id }) => id).filter((id) => !taking.includes(id))).toEqual([]);
    });

    test.each(Object.keys(changes))(
      '%s is 412 with a stale If-Match, after the checks of its body',
      async (id) => {
        const operation = operations.get(id)!;
        const body = changes[id]!(one);
        const before = await tagOf(operation);
        for (const stale of ['"999"', `W/${before}`, 'garbage', before.replaceAll('"', '')]) {
          await expectStale(send(operation, stale, body));
        }
        expect(await tagOf(operation)).toBe(before);
        if (operation.schema) expectError(await send(operation, '"999"', []), 422);
        const changed = await send(operation, `"999", ${before}`, body);
        expect(changed.status, changed.text).toBe(200);
        const after = changed.headers.get('etag');
        expect(after).not.toBe(before);
        expect(await tagOf(operation)).toBe(after);
        expect((await send(operation, '*', body)).status).toBe(200);
      },
    );

    test.each(Object.keys(actions))('%s is 412 with a stale If-Match', async (id) => {
      const { body } = await send(operations.get(id)!, '"999"', actions[id]);
      expect(body?.error).toMatchObject({
        code: 'precondition_failed',
        message: expect.stringContaining('If-Match'),
      });
    });

    test.each(deletions)('%s is 412 with a stale If-Match, and 404 once it is done', async (id) => {
      const operation = operations.get(id)!;
      // A draft cannot be deleted.
      if (id === 'deleteWorkItem') await ok(at().api.post(`${one.address(operation)}/cancel`));
      const before = await tagOf(operation);
      await expectStale(send(operation, '"999"'));
      expect(await tagOf(operation)).toBe(before);
      await ok(send(operation, before), 204);
      expectError(await send(operation, before), 404);
      expectError(await send(operation, '*'), 404);
    });
  }));
