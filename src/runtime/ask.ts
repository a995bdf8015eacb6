import { getAgent } from '../agents/index.ts';
import type { Services } from '../feature.ts';
import { ApiError, unavailable, unprocessable } from '../lib/errors.ts';
import type { LlmConfigurations, ResolvedLlm } from '../llm-configurations/index.ts';
import type { AskedModel, AskModel } from '../semantic-data-models/index.ts';
import type { Message } from './messages.ts';
import { createModel } from './model/index.ts';
import { ModelError, type StepResult } from './step.ts';

const toolName = 'answer';

/** The longest time for one answer, in milliseconds. */
const askWithinMs = 60_000;

/** The object of a reply: the arguments of the tool, or JSON in the text of a model that did not call it. */
const outputOf = ({ toolCalls, text }: StepResult): unknown => {
  const call = toolCalls.find(({ name, fault }) => name === toolName && fault === undefined);
  if (call) return call.arguments;
  const json = /\{.*\}/s.exec(text)?.[0];
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
};

/** The answers of the model are text again: nothing depends on how it called the tool. */
const toMessage = ({ role, text }: { role: 'system' | 'user' | 'assistant'; text: string }): Message =>
  role === 'assistant' ? { role, text, tool_calls: [] } : { role, text };

/** Models that are asked for one object, outside any run: for questions to semantic data models. */
export const createAsk =
  ({ db, egress }: Pick<Services, 'db' | 'egress'>, llms: Pick<LlmConfigurations, 'resolve'>): AskModel =>
  async ({ agentId, llmId }): Promise<AskedModel> => {
    const agent = agentId === undefined ? null : await db.run((executor) => getAgent(executor, agentId));
    const resolve = async (): Promise<ResolvedLlm> => {
      if (llmId === undefined) return llms.resolve(agent?.llm_id ?? null);
      return llms.resolve(llmId).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
        throw unprocessable([{ path: 'llm_id', message: 'is not an LLM configuration' }], { llm_id: llmId });
      });
    };
    const llm = await resolve();
    const name = llmId === undefined ? (agent?.model ?? null) : null;
    const model = createModel(llm, { fetch: egress.fetch, name });
    return {
      isMock: llm.kind === 'mock',
      ask: async ({ messages, schema, signal }) => {
        const timeout = AbortSignal.timeout(askWithinMs);
        const tool = {
          name: toolName,
          description: 'Give the answer. Call it exactly once.',
          inputSchema: schema,
        };
        try {
          const reply = await model.step({
            messages: messages.map(toMessage),
            tools: [tool],
            signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
            maxOutputTokens: null,
            cacheKey: null,
          });
          return { output: outputOf(reply), text: reply.text, usage: reply.usage };
        } catch (error) {
          if (timeout.aborted) throw unavailable('The LLM did not reply in time.', 5);
          if (!(error instanceof ModelError)) throw error;
          throw unavailable(`The LLM cannot be asked: ${error.message}`, 5);
        }
      },
    };
  };
