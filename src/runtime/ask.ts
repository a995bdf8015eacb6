import { setTimeout as sleep } from 'node:timers/promises';
import { isBudgetRefusal, toApiError } from '../budgets/index.ts';
import type { Accounts } from '../charges/index.ts';
import type { Services } from '../feature.ts';
import { actingRoot } from '../lib/acting-for.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { parseExactJson } from '../lib/json.ts';
import { isObject } from '../lib/objects.ts';
import {
  LlmFailure,
  type Models,
  type ObjectReply,
  type ObjectRequest,
  type ResolvedLlm,
} from '../llm-configurations/index.ts';
import { objectIn } from './json-text.ts';
import type { Message } from './messages.ts';
import { createModel } from './model/index.ts';
import { type Model, ModelError, type StepRequest, type StepResult } from './step.ts';

const toolName = 'answer';

const defaultWithinMs = 60_000;
/** The longest wait before a call is made again, in milliseconds. */
const maxWaitMs = 20_000;

/** The object of a reply: the arguments of the tool, else JSON in the text, also of a model that did not call it. */
const outputOf = (
  { toolCalls, text }: StepResult,
  parse: (json: string) => unknown,
  mustCall: boolean,
): Record<string, unknown> | undefined => {
  const call = toolCalls.find(({ name, fault }) => name === toolName && fault === undefined);
  const inText = () => (mustCall ? undefined : objectIn(text, parse));
  const output = call ? call.arguments : inText();
  return isObject(output) ? output : undefined;
};

/** The replies of the model are text again: nothing depends on how it called the tool. */
const toMessage = ({ role, text }: ObjectRequest['messages'][number]): Message =>
  role === 'assistant' ? { role, text, tool_calls: [] } : { role, text };

const toStep = ({ messages, schema, as }: ObjectRequest, signal: AbortSignal): StepRequest => {
  const step = { messages: messages.map(toMessage), signal, maxOutputTokens: null, cacheKey: null };
  if (as === 'reply') return { ...step, tools: [], output: schema };
  const description = 'Give the answer. Call it exactly once.';
  return { ...step, tools: [{ name: toolName, description, inputSchema: schema }] };
};

/** Makes the call again while it fails in a way that may pass. */
const stepWithRetries = async (
  model: Model,
  step: StepRequest,
  { mostCalls, waitMs }: { mostCalls: number; waitMs: number },
): Promise<StepResult> => {
  for (let call = 1; ; call++) {
    try {
      return await model.step(step);
    } catch (error) {
      if (!(error instanceof ModelError) || !error.retryable || call >= mostCalls) throw error;
      const wait = Math.min(error.retryAfterMs ?? waitMs * call, maxWaitMs);
      await sleep(wait, undefined, { signal: step.signal });
    }
  }
};

/** Number of questions that a replica asks of models at once, outside of runs; others wait. */
const questionsAtOnce = 16;

/** Questions to models outside of runs, divided fairly between those who ask. */
export const createQuestions = () =>
  new FairQueue(() => questionsAtOnce, 'Too many questions to models are in progress.');

interface AskParts {
  /** Resolves to the model, whose calls are charged as this. */
  modelFor(purpose: ObjectRequest['purpose'], signal: AbortSignal): Promise<Model>;
  questions: FairQueue;
  waitMs: number;
}

const askForObject = async (
  { modelFor, questions, waitMs }: AskParts,
  request: ObjectRequest,
): Promise<ObjectReply> => {
  const { signal, mostCalls = 1, withinMs = defaultWithinMs } = request;
  const place = { waitMs: withinMs, signal };
  const release = await questions.take(await actingRoot(), place);
  const timeout = AbortSignal.timeout(withinMs);
  const step = toStep(request, signal ? AbortSignal.any([signal, timeout]) : timeout);
  try {
    const model = await modelFor(request.purpose, step.signal);
    const reply = await stepWithRetries(model, step, { mostCalls, waitMs });
    // JSON that is read from a document keeps all digits of an id. A query counts with numbers.
    const parse = request.as === 'reply' ? parseExactJson : JSON.parse;
    return {
      output: outputOf(reply, parse, request.mustCall ?? false),
      text: reply.text,
      usage: reply.usage,
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new LlmFailure('model_unavailable', `it sent no reply within ${withinMs / 1_000} s.`, {
        retryable: true,
      });
    }
    if (isBudgetRefusal(error)) throw toApiError(error);
    if (!(error instanceof ModelError)) throw error;
    throw new LlmFailure(error.code, error.message, error);
  } finally {
    release();
  }
};

export interface AskNeeds {
  accounts: Accounts;
  resolveLlm(id: string): Promise<ResolvedLlm>;
}

/** Opens LLMs to be asked for one object, outside any run. `waitMs`: before the second call, if the provider names no time. */
export const createOpen =
  (
    { egress, accounts, resolveLlm }: Pick<Services, 'egress'> & AskNeeds,
    { waitMs = 1_000, questions = createQuestions() } = {},
  ): Models['open'] =>
  (llm, name, agentId) => {
    const requested = name ?? llm.model;
    const modelFor: AskParts['modelFor'] = async (purpose, signal) => {
      const options = { purpose, agentId: agentId ?? null };
      const cheaper = await accounts.substitute(llm, options, signal);
      if (cheaper !== null) {
        const other = await resolveLlm(cheaper);
        const account = accounts.open(other, other.model, options);
        return createModel(other, { fetch: egress.fetch, name: null, account });
      }
      const account = accounts.open(llm, requested, options);
      return createModel(llm, { fetch: egress.fetch, name, account });
    };
    return {
      llmId: llm.id,
      model: llm.kind === 'mock' ? 'mock' : requested,
      isMock: llm.kind === 'mock',
      askForObject: (request) => askForObject({ modelFor, questions, waitMs }, request),
    };
  };
