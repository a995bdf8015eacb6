import { argsText, defaultUsage, event, halves, type Protocol, type Turn, words } from './protocol.ts';
import { openAiRefusal } from './strict.ts';

const id = 'chatcmpl-1';
const model = 'chat-model-2026';
const created = 1_767_225_600;

const finishOf = ({ finish, calls }: Turn): string => {
  if (finish) return finish === 'length' ? 'length' : 'content_filter';
  return calls ? 'tool_calls' : 'stop';
};

const usageOf = ({
  usage = defaultUsage,
  sentUsage = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  },
}: Turn) => (sentUsage === null ? {} : { usage: sentUsage });

const toolCalls = ({ calls = [] }: Turn) =>
  calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argsText(call.args) },
  }));

/** OpenAI's chat completions, as compatible servers speak them too. */
export const chatCompletions: Omit<
  Protocol,
  'kind' | 'basePath' | 'settings' | 'secrets' | 'model' | 'isAuthorized'
> = {
  refuses: openAiRefusal,
  streamType: 'text/event-stream',
  isStream: ({ body }) => body.stream === true,
  whole: (turn) => ({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: turn.text ?? null,
          ...(turn.reasoning && { reasoning_content: turn.reasoning.text }),
          ...(turn.calls && { tool_calls: toolCalls(turn) }),
        },
        finish_reason: finishOf(turn),
      },
    ],
    ...usageOf(turn),
  }),
  stream: (turn) => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      event({
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        choices: [{ index: 0, delta, finish_reason }],
        usage: null,
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(turn.reasoning ? halves(turn.reasoning.text) : []).map((text) =>
        chunk({ reasoning_content: text }),
      ),
      ...words(turn.text ?? '').map((content) => chunk({ content })),
      ...toolCalls(turn).flatMap((call, index) => {
        const [first, second] = halves(call.function.arguments);
        return [
          chunk({
            tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: first } }],
          }),
          chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
        ];
      }),
      chunk({}, finishOf(turn)),
      event({ id, object: 'chat.completion.chunk', created, model, choices: [], ...usageOf(turn) }),
      event('[DONE]'),
    ];
  },
  error: (status, message) => ({ error: { message, type: 'error', param: null, code: String(status) } }),
  tooLong: {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  streamError: () =>
    event({ error: { message: 'The server had an error.', type: 'server_error', code: null } }),
  toolNames: ({ body }) =>
    (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
  outputLimit: ({ body }) => body.max_completion_tokens ?? body.max_tokens,
  // This protocol has no signatures.
  signatures: () => [],
};
