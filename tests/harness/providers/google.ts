import { argsText, defaultUsage, event, type Protocol, type Turn, valuesOf, words } from './protocol.ts';
import { checkGoogle, refusalOf } from './strict.ts';

const apiKey = 'AIza0123456789abcdef';

const finishOf = ({ finish }: Turn): string =>
  finish === undefined ? 'STOP' : finish === 'length' ? 'MAX_TOKENS' : 'SAFETY';

const usageOf = ({ usage = defaultUsage, sentUsage }: Turn) =>
  sentUsage === null
    ? {}
    : {
        usageMetadata: sentUsage ?? {
          promptTokenCount: usage.input,
          cachedContentTokenCount: usage.cached,
          candidatesTokenCount: usage.output - usage.reasoning,
          thoughtsTokenCount: usage.reasoning,
          totalTokenCount: usage.input + usage.output,
        },
      };

/** The protocol has arguments as objects only. */
const argsOf = (args: unknown): unknown => {
  try {
    return JSON.parse(argsText(args));
  } catch {
    return args;
  }
};

/** The signature is on the first function call, as the API sends it; without a call on the text. */
const partsOf = ({ reasoning, text, calls = [] }: Turn, pieces = words(text ?? '')): object[] => {
  const signed = reasoning ? { thoughtSignature: reasoning.signature } : {};
  return [
    ...(reasoning ? [{ text: reasoning.text, thought: true }] : []),
    ...pieces.map((piece, i) => ({
      text: piece,
      ...(calls.length === 0 && i === 0 ? signed : {}),
    })),
    ...calls.map(({ id, name, args }, i) => ({
      functionCall: { ...(id === '' ? {} : { id }), name, args: argsOf(args) },
      ...(i === 0 ? signed : {}),
    })),
  ];
};

const replyOf = (turn: Turn, parts: object[], finished: boolean) => ({
  candidates: [
    {
      content: { role: 'model', parts },
      index: 0,
      ...(finished ? { finishReason: finishOf(turn) } : {}),
    },
  ],
  ...(finished ? usageOf(turn) : {}),
  modelVersion: 'gemini-3-pro-001',
  responseId: 'resp-1',
});

/** Gemini's generateContent and streamGenerateContent. */
export const google: Protocol = {
  kind: 'google',
  basePath: '/v1beta',
  model: 'gemini-3-pro-preview',
  settings: { api_key: apiKey },
  secrets: [apiKey],
  isAuthorized: ({ headers, path }) =>
    headers['x-goog-api-key'] === apiKey &&
    /^\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(path),
  refuses: (request) =>
    refusalOf(
      () => checkGoogle(request),
      ({ message }) => ({
        status: 400,
        body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
      }),
    ),
  streamType: 'text/event-stream',
  isStream: ({ path }) => path.includes(':streamGenerateContent'),
  whole: (turn) => replyOf(turn, partsOf(turn, turn.text ? [turn.text] : []), true),
  stream: (turn) => {
    const parts = partsOf(turn);
    return [
      ...parts.map((part) => event(replyOf(turn, [part], false))),
      event(replyOf(turn, [{ text: '' }], true)),
    ];
  },
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' },
  }),
  tooLong: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  },
  streamError: () =>
    event({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
  toolNames: ({ body }) =>
    (body.tools ?? []).flatMap((tool: { functionDeclarations?: { name: string }[] }) =>
      (tool.functionDeclarations ?? []).map(({ name }) => name),
    ),
  outputLimit: ({ body }) => body.generationConfig?.maxOutputTokens,
  signatures: ({ body }) => valuesOf(body.contents, 'thoughtSignature'),
};
