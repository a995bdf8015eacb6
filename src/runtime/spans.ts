import { type Attributes, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions';
import {
  ATTR_GEN_AI_AGENT_ID,
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_ID,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
} from '@opentelemetry/semantic-conventions/incubating';
import type { Agent } from '../agents/index.ts';
import { costOf, type NewCharge } from '../charges/index.ts';
import type { Usage } from '../lib/usage.ts';
import type { SpanOptions } from '../telemetry/index.ts';
import type { Message, ToolCall } from './messages.ts';
import type { Run } from './run-store.ts';
import type { Model, StepResult } from './step.ts';

/** The names and attributes of a run's spans: OpenTelemetry's semantic conventions for generative AI. */

export interface SpanShape {
  name: string;
  options: SpanOptions;
}

/** Not yet among the constants of the conventions. */
const ATTR_GEN_AI_AGENT_VERSION = 'gen_ai.agent.version';

const versionAttribute = ({ agentVersion }: Pick<Run<unknown>, 'agentVersion'>): Attributes =>
  agentVersion === null ? {} : { [ATTR_GEN_AI_AGENT_VERSION]: String(agentVersion) };

export const invokeAgentSpan = (
  run: Pick<Run<unknown>, 'agentVersion' | 'conversationId' | 'attributes'>,
  agent: Agent,
  model: Model,
): SpanShape => ({
  name: `invoke_agent ${agent.name}`,
  options: {
    kind: SpanKind.INTERNAL,
    agentId: agent.id,
    attributes: {
      [ATTR_GEN_AI_OPERATION_NAME]: 'invoke_agent',
      [ATTR_GEN_AI_PROVIDER_NAME]: model.provider,
      [ATTR_GEN_AI_AGENT_ID]: agent.id,
      [ATTR_GEN_AI_AGENT_NAME]: agent.name,
      ...versionAttribute(run),
      [ATTR_GEN_AI_REQUEST_MODEL]: model.name,
      [ATTR_GEN_AI_CONVERSATION_ID]: run.conversationId,
      ...run.attributes,
    },
  },
});

export const chatSpan = (
  run: Pick<Run<unknown>, 'agentVersion' | 'conversationId'>,
  model: Model,
): SpanShape => ({
  name: `chat ${model.name}`,
  options: {
    kind: SpanKind.CLIENT,
    attributes: {
      [ATTR_GEN_AI_OPERATION_NAME]: 'chat',
      [ATTR_GEN_AI_PROVIDER_NAME]: model.provider,
      [ATTR_GEN_AI_REQUEST_MODEL]: model.name,
      [ATTR_GEN_AI_CONVERSATION_ID]: run.conversationId,
      ...versionAttribute(run),
    },
  },
});

export const toolSpan = (run: Pick<Run<unknown>, 'agentVersion'>, call: ToolCall): SpanShape => ({
  name: `execute_tool ${call.name}`,
  options: {
    kind: SpanKind.INTERNAL,
    attributes: {
      [ATTR_GEN_AI_OPERATION_NAME]: 'execute_tool',
      [ATTR_GEN_AI_TOOL_NAME]: call.name,
      [ATTR_GEN_AI_TOOL_CALL_ID]: call.id,
      [ATTR_GEN_AI_TOOL_TYPE]: 'function',
      ...versionAttribute(run),
    },
  },
});

export const usageAttributes = (usage: Usage): Attributes => ({
  [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage.input_tokens,
  [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage.output_tokens,
  [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage.cached_input_tokens,
});

/** Cost in USD, as other tools report it. */
const ATTR_GEN_AI_USAGE_COST = 'gen_ai.usage.cost';
const ATTR_COST_NANO_USD = 'agent_platform.cost.nano_usd';
/** Not yet among the constants of the conventions. */
const ATTR_CACHE_CREATION_INPUT_TOKENS = 'gen_ai.usage.cache_creation.input_tokens';
const ATTR_REASONING_OUTPUT_TOKENS = 'gen_ai.usage.reasoning.output_tokens';

/** The cost of calls of models; none if there is none, or if the amount of one of them is unknown. */
export const costAttributes = (charges: readonly NewCharge[]): Attributes => {
  const { cost_nano_usd, unknown_calls } = costOf(charges);
  if (charges.length === 0 || unknown_calls > 0) return {};
  return { [ATTR_GEN_AI_USAGE_COST]: cost_nano_usd / 1e9, [ATTR_COST_NANO_USD]: cost_nano_usd };
};

const bucketAttributes = ({ tokens }: StepResult): Attributes =>
  tokens === null
    ? {}
    : {
        [ATTR_CACHE_CREATION_INPUT_TOKENS]: tokens.tokens.cache_write + tokens.tokens.cache_write_1h,
        [ATTR_REASONING_OUTPUT_TOKENS]: tokens.tokens.reasoning,
      };

export const replyAttributes = (reply: StepResult): Attributes => ({
  [ATTR_GEN_AI_RESPONSE_MODEL]: reply.responseModel,
  [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [reply.finishReason],
  ...(reply.responseId === null ? {} : { [ATTR_GEN_AI_RESPONSE_ID]: reply.responseId }),
  ...usageAttributes(reply.usage),
  ...bucketAttributes(reply),
});

const textPart = (content: string) => ({ type: 'text', content });
const callPart = ({ id, name, arguments: args }: ToolCall) => ({
  type: 'tool_call',
  id,
  name,
  arguments: args,
});

const toPart = (message: Message) => {
  if (message.role === 'assistant') {
    const text = message.text === '' ? [] : [textPart(message.text)];
    return { role: 'assistant', parts: [...text, ...message.tool_calls.map(callPart)] };
  }
  if (message.role === 'tool') {
    const part = { type: 'tool_call_response', id: message.tool_call_id, response: message.text };
    return { role: 'tool', parts: [part] };
  }
  return { role: message.role, parts: [textPart(message.text)] };
};

/** Prompt and reply as JSON: only if CAPTURE_MESSAGE_CONTENT is on. */
export const contentAttributes = (messages: readonly Message[], reply: StepResult | null): Attributes => {
  const instructions = messages.flatMap((m) => (m.role === 'system' ? [textPart(m.text)] : []));
  const prompt = messages.filter((m) => m.role !== 'system').map(toPart);
  return {
    ...(instructions.length === 0 ? {} : { [ATTR_GEN_AI_SYSTEM_INSTRUCTIONS]: JSON.stringify(instructions) }),
    [ATTR_GEN_AI_INPUT_MESSAGES]: JSON.stringify(prompt),
    ...(reply === null
      ? {}
      : {
          [ATTR_GEN_AI_OUTPUT_MESSAGES]: JSON.stringify([
            {
              ...toPart({ role: 'assistant', text: reply.text, tool_calls: reply.toolCalls }),
              finish_reason: reply.finishReason,
            },
          ]),
        }),
  };
};

/** Returns the content attributes of a tool call. */
export const toolContentAttributes = (call: ToolCall, result: string): Attributes => ({
  [ATTR_GEN_AI_TOOL_CALL_ARGUMENTS]: JSON.stringify(call.arguments),
  [ATTR_GEN_AI_TOOL_CALL_RESULT]: result,
});

/** Marks a span as failed. `type` is a code of few values. */
export const failSpan = (span: Span, type: string, message?: string): void => {
  span.setAttribute(ATTR_ERROR_TYPE, type);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
};
