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
import { openAiRefusal } from './strict.ts';

const model = 'gpt-5-2026-01-01';

interface Item {
  type: string;
  id: string;
  [field: string]: unknown;
}

const itemsOf = (turn: Turn): Item[] => [
  ...(turn.reasoning
    ? [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [],
          encrypted_content: turn.reasoning.signature,
        },
      ]
    : []),
  ...(turn.text === undefined
    ? []
    : [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: turn.text, annotations: [] }],
        },
      ]),
  ...(turn.calls ?? []).map((call, i) => ({
    type: 'function_call',
    id: `fc_${i}`,
    call_id: call.id,
    name: call.name,
    arguments: argsText(call.args),
    status: 'completed',
  })),
];

const responseOf = (turn: Turn, status: string, output: Item[]) => {
  const { usage = defaultUsage, sentUsage, finish } = turn;
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    status,
    model,
    output,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    usage:
      status === 'in_progress'
        ? null
        : sentUsage !== undefined
          ? sentUsage
          : {
              input_tokens: usage.input,
              input_tokens_details: { cached_tokens: usage.cached },
              output_tokens: usage.output,
              output_tokens_details: { reasoning_tokens: usage.reasoning },
              total_tokens: usage.input + usage.output,
            },
  };
};

const endOf = ({ finish }: Turn) => (finish ? 'incomplete' : 'completed');

/** The events of one output item. */
const itemEvents = (item: Item, output_index: number): object[] => {
  const deltas: object[] = [];
  const at = { item_id: item.id, output_index };
  if (item.type === 'message') {
    const [{ text }] = item.content as [{ text: string }];
    deltas.push(
      {
        type: 'response.content_part.added',
        ...at,
        content_index: 0,
        part: { type: 'output_text', text: '' },
      },
      ...words(text).map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta })),
      { type: 'response.output_text.done', ...at, content_index: 0, text },
    );
  }
  if (item.type === 'function_call') {
    deltas.push(
      ...halves(item.arguments as string).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
    );
  }
  const begun = {
    ...item,
    ...('arguments' in item ? { arguments: '' } : {}),
    ...('content' in item ? { content: [] } : {}),
  };
  return [
    { type: 'response.output_item.added', output_index, item: { ...begun, status: 'in_progress' } },
    ...deltas,
    { type: 'response.output_item.done', output_index, item },
  ];
};

/** OpenAI's responses. */
export const responses: Omit<
  Protocol,
  'kind' | 'basePath' | 'settings' | 'secrets' | 'model' | 'isAuthorized'
> = {
  refuses: openAiRefusal,
  streamType: 'text/event-stream',
  isStream: ({ body }) => body.stream === true,
  whole: (turn) => responseOf(turn, endOf(turn), itemsOf(turn)),
  stream: (turn) => {
    const items = itemsOf(turn);
    const status = endOf(turn);
    const events: object[] = [
      { type: 'response.created', response: responseOf(turn, 'in_progress', []) },
      { type: 'response.in_progress', response: responseOf(turn, 'in_progress', []) },
      ...items.flatMap(itemEvents),
      { type: `response.${status}`, response: responseOf(turn, status, items) },
    ];
    return events.map((data, sequence_number) =>
      event({ ...data, sequence_number }, (data as { type: string }).type),
    );
  },
  error: (status, message) => ({ error: { message, type: 'error', param: null, code: String(status) } }),
  tooLong: {
    status: 400,
    body: {
      error: {
        message:
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  },
  streamError: () =>
    event({
      type: 'error',
      code: 'server_error',
      message: 'The server had an error.',
      param: null,
      sequence_number: 9,
    }),
  toolNames: ({ body }) => (body.tools ?? []).map((tool: { name: string }) => tool.name),
  outputLimit: ({ body }) => body.max_output_tokens,
  signatures: ({ body }) => valuesOf(body.input, 'encrypted_content'),
};
