import {
  argsText,
  defaultUsage,
  event,
  halves,
  type Protocol,
  type Turn,
  valuesOf,
  words,
} from './protocol.ts';
import { checkAnthropic, refusalOf } from './strict.ts';

const apiKey = 'sk-ant-0123456789abcdef';
const model = 'claude-sonnet-4-5-20250929';

const stopOf = ({ finish, calls }: Turn): string => {
  if (finish) return finish === 'length' ? 'max_tokens' : 'refusal';
  return calls ? 'tool_use' : 'end_turn';
};

const usageOf = ({ usage = defaultUsage, sentUsage }: Turn): Record<string, unknown> =>
  sentUsage ?? {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };

const blocksOf = (turn: Turn): { begun: object; deltas: object[]; whole: object }[] => [
  ...(turn.reasoning
    ? [
        {
          begun: { type: 'thinking', thinking: '', signature: '' },
          deltas: [
            ...halves(turn.reasoning.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: turn.reasoning.signature },
          ],
          whole: { type: 'thinking', thinking: turn.reasoning.text, signature: turn.reasoning.signature },
        },
      ]
    : []),
  ...(turn.text
    ? [
        {
          begun: { type: 'text', text: '' },
          deltas: words(turn.text).map((text) => ({ type: 'text_delta', text })),
          whole: { type: 'text', text: turn.text },
        },
      ]
    : []),
  ...(turn.calls ?? []).map(({ id, name, args }) => ({
    begun: { type: 'tool_use', id, name, input: {} },
    deltas: halves(argsText(args)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    whole: { type: 'tool_use', id, name, input: args },
  })),
];

const named = (data: { type: string }) => event(data, data.type);

/** Anthropic's messages. */
export const anthropic: Protocol = {
  kind: 'anthropic',
  basePath: '/v1',
  model,
  settings: { api_key: apiKey },
  secrets: [apiKey],
  isAuthorized: ({ headers }) =>
    headers['x-api-key'] === apiKey && headers['anthropic-version'] === '2023-06-01',
  refuses: (request) =>
    refusalOf(
      () => checkAnthropic(request),
      ({ message }) => ({
        status: 400,
        body: { type: 'error', error: { type: 'invalid_request_error', message } },
      }),
    ),
  streamType: 'text/event-stream; charset=utf-8',
  isStream: ({ body }) => body.stream === true,
  whole: (turn) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: blocksOf(turn).map(({ whole }) => whole),
    stop_reason: stopOf(turn),
    stop_sequence: null,
    usage: usageOf(turn),
  }),
  stream: (turn) => [
    named({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usageOf(turn), output_tokens: 1, output_tokens_details: null },
      },
    } as { type: string }),
    named({ type: 'ping' }),
    ...blocksOf(turn).flatMap(({ begun, deltas }, index) => [
      named({ type: 'content_block_start', index, content_block: begun } as { type: string }),
      ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta } as { type: string })),
      named({ type: 'content_block_stop', index } as { type: string }),
    ]),
    named({
      type: 'message_delta',
      delta: { stop_reason: stopOf(turn), stop_sequence: null },
      // The counts of the prompt may be null here: they came with the start.
      usage: {
        input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation_input_tokens: null,
        output_tokens: usageOf(turn).output_tokens,
        output_tokens_details: usageOf(turn).output_tokens_details,
      },
    } as { type: string }),
    named({ type: 'message_stop' }),
  ],
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message },
  }),
  tooLong: {
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    },
  },
  streamError: () =>
    named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as { type: string }),
  toolNames: ({ body }) => (body.tools ?? []).map((tool: { name: string }) => tool.name),
  outputLimit: ({ body }) => body.max_tokens,
  signatures: ({ body }) => valuesOf(body.messages, 'signature'),
};
