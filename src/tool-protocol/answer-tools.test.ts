import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServedRoutes, serveRoutes, tester } from '../../tests/harness/api.ts';
import { onPostgres } from '../../tests/harness/database.ts';
import { testServices } from '../../tests/harness/services.ts';
import { eras, RawEndpoint } from '../../tests/harness/tool-protocol.ts';
import { makeAgent } from '../../tests/harness/work-items.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Answer, Conversations } from './answer-tools.ts';
import { createToolProtocol } from './index.ts';

/** Conversations whose runs never end by themselves. */
class EndlessConversations implements Conversations {
  readonly calls: unknown[][] = [];
  readonly runs = new Map<string, Answer>();

  async ask(...[{ agent, actor }, question]: Parameters<Conversations['ask']>) {
    this.calls.push(['ask', agent.id, actor.principal.id, question]);
    if (question.message === 'fail') {
      throw new ApiError('precondition_failed', 'A run is in progress.', { status: 'running' });
    }
    const run = { conversationId: question.conversationId ?? newId(), runId: newId() };
    this.runs.set(run.conversationId, {
      conversation_id: run.conversationId,
      run_id: run.runId,
      status: 'running',
      answer: null,
      error: null,
    });
    return run;
  }

  async answer(...[, { conversationId, runId }, { seconds, signal }]: Parameters<Conversations['answer']>) {
    this.calls.push(['answer', conversationId, runId, seconds]);
    const run = this.runs.get(conversationId);
    if (!run) throw notFound('conversation');
    if (seconds > 0 && run.status === 'running' && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    }
    return run;
  }

  async cancel(...[, { conversationId, runId }]: Parameters<Conversations['cancel']>) {
    this.calls.push(['cancel', conversationId, runId]);
    const run: Answer = { ...this.runs.get(conversationId)!, status: 'cancelled' };
    this.runs.set(conversationId, run);
    return run;
  }

  named(name: string): unknown[][] {
    return this.calls.filter(([one]) => one === name);
  }
}

onPostgres((_name, open) => {
  let conversations: EndlessConversations;
  let served: ServedRoutes;
  let agent: string;
  let endpoint: RawEndpoint;
  beforeEach(async () => {
    conversations = new EndlessConversations();
    served = await serveRoutes(open(), createToolProtocol(testServices(open()), { conversations }));
    agent = await makeAgent(open(), { mode: 'conversational' });
    endpoint = new RawEndpoint(`${served.origin}/api/v1/agents/${agent}/mcp`, tester.id);
  });
  afterEach(() => served.close());

  test('a conversational agent has the tools for questions, in both eras', async () => {
    for (const era of eras) {
      const { body } = await endpoint.rpc(era, 'tools/list');
      expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual([
        'ask_agent',
        'cancel_answer',
        'get_answer',
      ]);
      const [ask, cancel, get] = body.result.tools;
      expect(ask.inputSchema.required).toEqual(['message']);
      expect(ask.inputSchema.properties.wait_seconds.default).toBe(50);
      expect(Object.keys(ask.outputSchema.properties)).toEqual([
        'conversation_id',
        'run_id',
        'status',
        'answer',
        'error',
      ]);
      expect(cancel.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true });
      expect(get.annotations.readOnlyHint).toBe(true);
    }
  });

  test('they ask with the depth of the caller, get and cancel', async () => {
    const headers = { 'agent-platform-depth': '3' };
    const asked = await endpoint.call('ask_agent', { message: 'hi', wait_seconds: 0 }, { headers });
    const { conversation_id, run_id } = asked;
    expect(asked).toEqual({ conversation_id, run_id, status: 'running', answer: null, error: null });
    expect(conversations.calls).toEqual([
      ['ask', agent, tester.id, { message: 'hi', conversationId: null, depth: 3 }],
      ['answer', conversation_id, run_id, 0],
    ]);
    expect(await endpoint.call('get_answer', { conversation_id })).toEqual(asked);
    expect(await endpoint.call('cancel_answer', { conversation_id })).toMatchObject({ status: 'cancelled' });
    await endpoint.call('ask_agent', { message: 'again', conversation_id, wait_seconds: 0 });
    expect(conversations.named('ask').at(-1)).toEqual([
      'ask',
      agent,
      tester.id,
      { message: 'again', conversationId: conversation_id, depth: 0 },
    ]);
  });

  test('they refuse what is wrong, and what conversations refuse', async () => {
    for (const [name, args, text] of [
      ['ask_agent', {}, /^bad_request: message: is required$/],
      ['ask_agent', { message: '' }, /^unprocessable_entity: message/],
      ['ask_agent', { message: 'x'.repeat(100_001) }, /^unprocessable_entity: message: .*100,000/],
      ['ask_agent', { message: 'x', wait_seconds: 601 }, /^unprocessable_entity: wait_seconds/],
      ['ask_agent', { message: 'fail' }, /^precondition_failed: A run is in progress\.$/],
      ['get_answer', { conversation_id: 'x' }, /^not_found: The conversation does not exist\.$/],
    ] as const) {
      for (const era of eras) expect(await endpoint.refusal(name, args, { era })).toMatch(text);
    }
  });

  test.each(eras)('closing the stream cancels the run in the modern era alone (%s)', async (era) => {
    const gone = new AbortController();
    const args = { name: 'ask_agent', arguments: { message: 'hi' } };
    for (const accept of ['application/json', 'application/json, text/event-stream']) {
      const [message, options] = endpoint.request(era, 'tools/call', args, { headers: { accept } });
      const response = endpoint.fetch(message, { ...options, signal: gone.signal });
      response.then((one) => one.text()).catch(() => {});
    }
    await expect.poll(() => conversations.named('answer').length).toBe(2);
    gone.abort();
    const runs = conversations.named('answer').map(([, ...run]) => run.slice(0, 2));
    if (era === 'modern') {
      await expect.poll(() => conversations.named('cancel').length).toBe(2);
      expect(conversations.named('cancel').map(([, ...run]) => run)).toEqual(expect.arrayContaining(runs));
    } else {
      // The wait has ended by now, which is when a cancel would have been sent.
      const [id] = runs[0] as [string];
      await endpoint.call('get_answer', { conversation_id: id });
      expect(conversations.named('cancel')).toEqual([]);
    }
  });

  test('an answer that comes cancels nothing, nor does a stop of the server', async () => {
    const asked = await endpoint.call('ask_agent', { message: 'hi', wait_seconds: 0 });
    const args = { name: 'ask_agent', arguments: { message: 'hi' } };
    const waiting = endpoint.rpc('modern', 'tools/call', args);
    await expect.poll(() => conversations.named('answer').length).toBe(2);
    await served.close();
    expect((await waiting).body.result.structuredContent.status).toBe('running');
    expect(asked.status).toBe('running');
    expect(conversations.named('cancel')).toEqual([]);
  });
});
