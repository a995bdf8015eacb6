import { silentLogger } from '../../src/lib/log.ts';
import type { Attempt } from '../../src/runtime/attempt.ts';
import { noCut } from '../../src/runtime/context.ts';
import type { Candidate } from '../../src/runtime/fallback.ts';
import type { Message } from '../../src/runtime/messages.ts';
import { mockModel } from '../../src/runtime/mock.ts';
import type { RunProgress } from '../../src/runtime/run-store.ts';
import type { Model, StepRequest, StepResult } from '../../src/runtime/step.ts';
import { builtInTools } from '../../src/runtime/tools.ts';
import { Recorder } from './runtime.ts';

/** An attempt whose store keeps everything in memory. */
export interface MemoryRun {
  attempt: Attempt;
  /** What was stored, one entry a transaction. */
  saved: RunProgress[];
  /** Ends it, as a cancel does. */
  abort(reason: unknown): void;
}

export const memoryRun = (given: Partial<Attempt> & { mock?: unknown } = {}): MemoryRun => {
  const { mock, ...more } = given;
  const saved: RunProgress[] = [];
  const controller = new AbortController();
  const text = mock === undefined ? 'Hello' : `Hello\n\nPayload (JSON):\n${JSON.stringify({ mock })}`;
  const messages: Message[] = [{ role: 'user', text }];
  const attempt: Attempt = {
    run: {
      id: 'run',
      agentId: 'agent',
      agentVersion: 1,
      conversationId: 'conversation',
      createdBy: 'tester',
      acting: {
        agentId: 'agent',
        agentVersion: 1,
        workItemId: null,
        runId: null,
        experimentId: null,
        scheduleId: null,
        triggerId: null,
      },
      purpose: 'run',
      owner: { conversation_id: 'conversation', work_item_id: null },
      depth: 0,
      attributes: {},
      held: {
        signal: controller.signal,
        end: (reason) => controller.abort(reason),
        store: async () => {
          throw new Error('the loop stores nothing by itself');
        },
        release: () => {},
      },
      store: {
        open: async () => ({ messages, approved: [], interrupted: [], context: noCut, tokensBefore: 0 }),
        save: async (progress) => void saved.push(progress),
        finish: async () => null,
      },
    },
    start: { approved: [], interrupted: [], tokensBefore: 0 },
    substitute: null,
    candidates: [{ llmId: 'llm', model: mockModel(), contextTokens: 128_000 }],
    tools: builtInTools,
    withheld: [],
    resultCheck: null,
    limits: { max_steps: 20, tool_concurrency: 4, max_tokens: null, max_output_tokens: null },
    captureContent: false,
    tracing: new Recorder(),
    log: silentLogger,
    messages,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      cached_input_tokens: 0,
      reasoning_tokens: 0,
      model_calls: 0,
      tool_calls: 0,
    },
    model: null,
    context: noCut,
    charges: [],
    steps: [],
    inputs: new Map(),
    ...more,
  };
  return { attempt, saved, abort: (reason) => controller.abort(reason) };
};

/** A model that replies with what `reply` returns for the call with this number, from 0; it may throw. */
export const scriptedModel = (
  name: string,
  reply: (n: number, request: StepRequest) => Partial<StepResult>,
): Candidate & { requests: StepRequest[] } => {
  const requests: StepRequest[] = [];
  const model: Model = {
    provider: 'test',
    name,
    step: async (request) => {
      requests.push(request);
      return {
        text: '',
        toolCalls: [],
        usage: { input_tokens: 100, output_tokens: 10, cached_input_tokens: 5, reasoning_tokens: 2 },
        tokens: null,
        finishReason: 'stop',
        responseModel: name,
        responseId: null,
        providerParts: null,
        ...reply(requests.length - 1, request),
      };
    },
  };
  return { llmId: 'llm', model, contextTokens: 1_000, requests };
};
