import { isBudgetRefusal, toApiError } from '../budgets/index.ts';
import type { Accounts } from '../charges/index.ts';
import type { Services } from '../feature.ts';
import { actingRoot } from '../lib/acting-for.ts';
import { failureOf } from '../lib/egress-exchange.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import type { ProbeLlm, ResolvedLlm } from '../llm-configurations/index.ts';
import { createQuestions } from './ask.ts';
import { createModel, redactorOf } from './model/index.ts';
import { ModelError, type StepRequest, type StepResult } from './step.ts';
import { builtInTools } from './tools.ts';

type Steps = Awaited<ReturnType<ProbeLlm>>['steps'];

/** Limit of all steps together: the response is sent within 30 s. */
const probeWithinMs = 28_000;
/** Time that a test waits for its turn. */
const waitForPlaceMs = 30_000;

const clock = builtInTools.find(({ name }) => name === 'current_time')!;

/** Returns whether the model called the clock with arguments that its schema allows. */
const calledClock = ({ toolCalls }: StepResult): boolean =>
  toolCalls.some(({ name, arguments: given, fault }) => {
    if (name !== clock.name || fault !== undefined) return false;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
    const { timezone } = given as { timezone?: unknown };
    return timezone === undefined || typeof timezone === 'string';
  });

/** The most characters of a reply that a test shows. */
const shownReply = 80;

/** Returns the model and its reply, the duration, and the tokens that the endpoint counted, as a sentence. */
const replyDetail = (
  llm: ResolvedLlm,
  { text, responseModel, usage }: StepResult,
  tookMs: number,
): string => {
  // An endpoint may repeat the key that it was sent.
  const line = redactorOf(llm).text(text).replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  const shown =
    characters.length > shownReply
      ? `${characters
          .slice(0, shownReply - 1)
          .join('')
          .trimEnd()}…`
      : line;
  const said = shown === '' ? 'without text' : `“${shown}”`;
  const { input_tokens, output_tokens } = usage;
  return `The model ${responseModel} replied ${said} in ${Math.round(tookMs)} ms, with ${input_tokens} input and ${output_tokens} output tokens.`;
};

/**
 * The test of an LLM configuration, within 30 s: connects, asks for a short reply, for a tool call, and for a streamed
 * reply if the configuration streams. The first step that fails is the last.
 */
export const createProbe = (
  services: Pick<Services, 'egress'> & { accounts: Accounts },
  questions: FairQueue = createQuestions(),
): ProbeLlm => {
  const probe = probeWith(services);
  return async (llm) => questions.run(await actingRoot(), { waitMs: waitForPlaceMs }, () => probe(llm));
};

const probeWith =
  ({ egress, accounts }: Pick<Services, 'egress'> & { accounts: Accounts }): ProbeLlm =>
  async (llm) => {
    const signal = AbortSignal.timeout(probeWithinMs);
    const steps: Steps = [];
    let unreached = false;
    let proxyFault: string | null = null;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      try {
        if (steps.length === 0) await showProxy(new URL(input instanceof Request ? input.url : input));
        return await egress.fetch(input, init);
      } catch (error) {
        const failure = failureOf(error);
        if (failure.kind === 'proxy')
          proxyFault = `${failure.message[0]!.toUpperCase()}${failure.message.slice(1)}.`;
        // A ModelError: the model was silent for too long.
        unreached = !signal.aborted && !(error instanceof ModelError);
        throw error;
      }
    };
    /** If requests go through a proxy, the first step says so. A url that is not permitted fails in the request. */
    const showProxy = async (url: URL): Promise<void> => {
      const route = await egress.route(url).catch(() => null);
      if (route?.proxy) passed('proxy', `Requests go through the proxy ${route.proxy.shown}.`);
    };
    const ask = (text: string, streaming: boolean, more: Partial<StepRequest> = {}): Promise<StepResult> => {
      const asked: ResolvedLlm = { ...llm, streaming };
      const account = accounts.open(llm, llm.model, { purpose: 'test' });
      return createModel(asked, { fetch, account }).step({
        messages: [{ role: 'user', text }],
        tools: [],
        signal,
        maxOutputTokens: null,
        cacheKey: null,
        ...more,
      });
    };
    const passed = (step: Steps[number]['step'], detail: string) =>
      void steps.push({ step, ok: true, detail });
    const failed = (step: Steps[number]['step'], detail: string) => {
      steps.push({ step, ok: false, detail });
      return { ok: false, detail, steps };
    };
    /** Throws what a budget refuses: it says nothing of the configuration. */
    const detailOf = (error: unknown): string => {
      if (isBudgetRefusal(error)) throw toApiError(error);
      if (signal.aborted) return `No reply within ${probeWithinMs / 1_000} s.`;
      return error instanceof ModelError ? error.message : 'The model could not be asked.';
    };

    let model: string;
    let replied: string;
    try {
      const startedAt = performance.now();
      const result = await ask('Answer with the one word: ready', false);
      model = result.responseModel;
      replied = replyDetail(llm, result, performance.now() - startedAt);
    } catch (error) {
      if (proxyFault !== null) {
        steps.length = 0;
        return failed('proxy', proxyFault);
      }
      if (unreached) return failed('connect', detailOf(error));
      passed('connect', 'The endpoint accepts connections.');
      return failed('answer', detailOf(error));
    }
    passed('connect', 'The endpoint accepts connections.');
    passed('answer', replied);

    try {
      const reply = await ask(`What time is it? Call the tool ${clock.name}.`, false, { tools: [clock] });
      if (reply.leftOut) return failed('tool_call', (reply.notes ?? []).join(' '));
      if (!calledClock(reply)) {
        return failed('tool_call', 'The model did not call the tool that it was asked to call.');
      }
      passed('tool_call', 'The model called a tool with valid arguments.');
    } catch (error) {
      return failed('tool_call', detailOf(error));
    }

    if (!llm.streaming) {
      passed('stream', 'Not used: streaming is off.');
      return { ok: true, detail: `The model ${model} replied.`, steps };
    }
    try {
      let deltas = 0;
      await ask('Answer with the one word: ready', true, { onDelta: () => void deltas++ });
      passed(
        'stream',
        deltas > 0 ? 'The model streamed a reply.' : 'The model streamed a reply without text.',
      );
      return { ok: true, detail: `The model ${model} replied.`, steps };
    } catch (error) {
      return failed('stream', detailOf(error));
    }
  };
