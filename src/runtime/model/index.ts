import type { ModelMessage } from 'ai';
import type { CallAccount } from '../../charges/index.ts';
import type { Secret } from '../../lib/crypto.ts';
import { Redactor } from '../../lib/redactor.ts';
import type { ResolvedLlm } from '../../llm-configurations/index.ts';
import { mockModel } from '../mock.ts';
import { type Model, ModelError, type StepRequest, type StepResult } from '../step.ts';
import { AccountedCall, accountedModel } from './accounting.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { receiveStream, receiveWhole } from './call.ts';
import { toModelError } from './errors.ts';
import { createMemory, withFallbacks } from './fallbacks.ts';
import { google } from './google.ts';
import { azure, openAi } from './openai.ts';
import { openAiCompatible } from './openai-compatible.ts';
import { type LoadFile, markLast, toInstructions, toModelMessages, toOutput, toToolSet } from './prompt.ts';
import type { CallOptions, OutputFormat, Provider } from './provider.ts';
import { readableFetch } from './readable.ts';
import { withoutReasoning } from './reasoning.ts';
import { sentName, toStepResult } from './reply.ts';
import { reportedTokens } from './usage/index.ts';
import { Watch, WholeReply, watchedFetch } from './watch.ts';

export type { LoadFile } from './prompt.ts';
export { schemaWarnings } from './schemas/fit.ts';

type EndpointLlm = Exclude<ResolvedLlm, { kind: 'mock' }>;

export interface ModelDeps {
  /** The egress's: every connection goes through it. */
  fetch: typeof globalThis.fetch;
  /** The account of its calls; absent: no one pays. */
  account?: CallAccount;
  /** The model to ask instead of the configuration's own. */
  name?: string | null;
  /** For the files of user messages; without it they are only named. */
  loadFile?: LoadFile;
  /** The longest silence in the middle of a reply, in milliseconds. */
  silenceMs?: number;
}

const createProvider = (
  llm: EndpointLlm,
  model: string,
  fetch: typeof globalThis.fetch,
  call: CallOptions,
): Provider => {
  switch (llm.kind) {
    case 'openai_compatible':
      return openAiCompatible(llm, model, fetch, call);
    case 'openai':
      return openAi(llm, model, fetch, call);
    case 'azure':
      return azure(llm, model, fetch, call);
    case 'anthropic':
      return anthropic(llm, model, fetch, call);
    case 'google':
      return google(llm, model, fetch, call);
    case 'bedrock':
      return bedrock(llm, model, fetch, call);
  }
};

const secretsOf = (llm: EndpointLlm): Secret[] => {
  const headers = Object.values(llm.headers);
  if (llm.kind !== 'bedrock') return llm.apiKey ? [llm.apiKey, ...headers] : headers;
  const { credentials } = llm;
  if ('apiKey' in credentials) return [credentials.apiKey, ...headers];
  const { secretAccessKey, sessionToken } = credentials;
  return [secretAccessKey, ...(sessionToken ? [sessionToken] : []), ...headers];
};

/** Replaces the secrets of a configuration in what its endpoint sends. */
export const redactorOf = (llm: ResolvedLlm): Redactor =>
  new Redactor(llm.kind === 'mock' ? [] : secretsOf(llm).map((secret) => secret.reveal()));

/** The smaller limit; null if there is none. */
const smaller = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** The files of a prompt, and their bytes in its body, where they are in base64. */
const filesIn = (messages: readonly ModelMessage[]): { files: number; fileBytes: number } => {
  let [files, fileBytes] = [0, 0];
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type !== 'file') continue;
      files++;
      if (part.data instanceof Uint8Array) fileBytes += Math.ceil(part.data.byteLength / 3) * 4;
    }
  }
  return { files, fileBytes };
};

/** One step of the loop: a single call, which the loop repeats if it may. */
const step = async (
  llm: EndpointLlm,
  model: string,
  deps: ModelDeps,
  request: StepRequest,
  output: OutputFormat,
): Promise<StepResult> => {
  // The name of a model becomes part of some addresses.
  if (model.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw new ModelError('model_refused', `${model} is not the name of a model.`, { retryable: false });
  }
  const wantedTokens = smaller(request.maxOutputTokens, llm.max_output_tokens);
  const maxOutputTokens = wantedTokens ?? (await deps.account?.outputLimit()) ?? null;
  const call: CallOptions = {
    reasoning: llm.reasoning_effort,
    maxOutputTokens,
    cacheKey: llm.prompt_caching ? request.cacheKey : null,
    output,
  };
  const redactor = redactorOf(llm);
  using watch = new Watch(request.signal, llm.timeout_seconds * 1_000, deps.silenceMs ?? 60_000);
  const accounted = new AccountedCall(deps.account, { ...request, maxOutputTokens });
  const { kind } = llm;
  const hasTools = request.tools.length > 0;
  const messages = await toModelMessages(request.messages, {
    kind,
    model,
    loadFile: deps.loadFile,
    hasTools,
  });
  const sdkCall = (fetch: typeof globalThis.fetch) => {
    const { options, cacheMarks, ...provider } = createProvider(llm, model, fetch, call);
    const marks = llm.prompt_caching ? cacheMarks : undefined;
    const { reasoning, maxOutputTokens } = { ...call, ...options };
    const instructions = toInstructions(request.messages, marks);
    return {
      ...provider,
      ...(instructions === undefined ? {} : { instructions }),
      messages: markLast(messages, marks),
      tools: toToolSet(request.tools),
      ...(request.output && output !== 'text' ? { output: toOutput(request.output) } : {}),
      ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
      ...(llm.temperature === null ? {} : { temperature: llm.temperature }),
      ...(reasoning === null ? {} : { reasoning }),
      ...(options?.providerOptions ? { providerOptions: options.providerOptions } : {}),
      maxRetries: 0,
      abortSignal: watch.signal,
    };
  };
  /** What a body that was received whole says of its usage. */
  let known: { usage: Record<string, unknown>; model: string | null } | null = null;
  const onWhole = (usage: Record<string, unknown>, named: string | null) => {
    known = { usage, model: named === null ? null : sentName(named, redactor) };
  };
  try {
    const isChat = kind === 'openai_compatible' || ('api' in llm && llm.api === 'chat_completions');
    let usage: Record<string, unknown> | null = null;
    const onUsage = (sent: Record<string, unknown>) => {
      usage = sent;
    };
    const watched = watchedFetch(
      accounted.fetch(deps.fetch, { messages: request.messages.length, ...filesIn(messages) }, () =>
        watch.sent(),
      ),
      watch,
      llm.streaming,
    );
    const whole = (fetch: typeof globalThis.fetch) =>
      receiveWhole(
        sdkCall(readableFetch(fetch, { streamed: false, isChat, onUsage, onWhole })),
        request.onDelta,
      );
    const reply = llm.streaming
      ? await receiveStream(
          sdkCall(readableFetch(watched, { streamed: true, isChat, onUsage, onWhole })),
          watch,
          request.onDelta,
        ).catch((error: unknown) => {
          if (!(error instanceof WholeReply)) throw error;
          return whole(async () => error.response);
        })
      : await whole(watched);
    const result = toStepResult(reply, { kind, model, usage }, redactor);
    await accounted.end(result.tokens, reply.response.modelId ? result.responseModel : null);
    return result;
  } catch (error) {
    // A reply that cannot be read is paid for all the same.
    const { usage, model: named } = known ?? { usage: null, model: null };
    await accounted.end(reportedTokens(kind, usage), named);
    request.signal.throwIfAborted();
    if (accounted.refusal !== null) throw accounted.refusal;
    throw toModelError(error, watch, redactor);
  }
};

/** The kinds by their names in the conventions for spans; a compatible endpoint has no name there. */
const providerNames: Record<EndpointLlm['kind'], string> = {
  openai_compatible: 'openai_compatible',
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  google: 'gcp.gemini',
  bedrock: 'aws.bedrock',
};

/** The model of an LLM configuration. */
export const createModel = (llm: ResolvedLlm, deps: ModelDeps): Model => {
  if (llm.kind === 'mock') return withoutReasoning(accountedModel(mockModel(), deps.account));
  const name = deps.name ?? llm.model;
  const memory = createMemory();
  return withoutReasoning({
    provider: providerNames[llm.kind],
    name,
    step: (request) =>
      withFallbacks(llm, name, memory, request, (sent, output) => step(llm, name, deps, sent, output)),
  });
};
