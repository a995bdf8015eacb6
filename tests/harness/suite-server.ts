import { setTimeout as sleep } from 'node:timers/promises';
import {
  createRequestStateCodec,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

// biome-ignore lint/suspicious/noExplicitAny: JSON of the protocol
type Json = any;

type Handler = (context: ServerContext) => Json | Promise<Json>;

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const text = (value: string) => ({ type: 'text', text: value });
const image = { type: 'image', data: png, mimeType: 'image/png' };
const resource = (uri: string, mimeType = 'text/plain') => ({
  type: 'resource',
  resource: { uri, mimeType, text: '{"a text": 1}' },
});
const says = (value: string) => ({ content: [text(value)] });

/** The states that travel through the client are signed. */
const codec = createRequestStateCodec({ key: new Uint8Array(32).fill(7) });

const elicit = (message: string, property: string, type = 'string') => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties: { [property]: { type } }, required: [property] },
  },
});
const sample = (question: string) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(question) }], maxTokens: 100 },
});
const roots = { method: 'roots/list', params: {} };

/** The capability that a client must have declared for a request of this method. */
const capabilities: Record<string, string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** Asks for the inputs that are missing, and finishes with those that came. */
const asks =
  (requests: Record<string, Json>, finish: (inputs: Json) => Json, state?: string): Handler =>
  async ({ mcpReq }) => {
    const inputs = mcpReq.inputResponses ?? {};
    const isThere = (key: string): boolean => {
      const input = inputs[key] as Json;
      return input !== null && typeof input === 'object' && (input.action === undefined || input.content);
    };
    if (Object.keys(requests).every(isThere)) return finish(inputs);
    return {
      resultType: 'input_required',
      inputRequests: requests,
      ...(state === undefined ? {} : { requestState: await codec.mint(state) }),
    };
  };

const progress: Handler = async ({ mcpReq }) => {
  const progressToken = mcpReq._meta?.progressToken;
  for (const done of [0, 50, 100]) {
    if (progressToken !== undefined) {
      const params = { progressToken, progress: done, total: 100 };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await sleep(10);
  }
  return says('done');
};

const logs: Handler = async ({ mcpReq }) => {
  for (const data of ['started', 'processing', 'completed']) {
    await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
  }
  return says('done');
};

const multiRound: Handler = async (context) => {
  const { mcpReq } = context;
  const step = mcpReq.requestState<string>();
  if (step === undefined) return asks({ step1: elicit('Your name?', 'name') }, () => null, 'one')(context);
  return asks({ step2: elicit('Your color?', 'color') }, () => says('done'), 'two')(context);
};

const declaredBy = ({ envelope }: ServerContext['mcpReq']): Json =>
  (envelope as Json)?.['io.modelcontextprotocol/clientCapabilities'] ?? {};

const onlyDeclared: Handler = (context) => {
  const declared = declaredBy(context.mcpReq);
  const all = { name: elicit('Your name?', 'name'), capital: sample('The capital?'), roots };
  const possible = Object.entries(all).filter(([, { method }]) => declared[capabilities[method]!]);
  return asks(Object.fromEntries(possible), () => says('done'))(context);
};

const missingCapability: Handler = ({ mcpReq }) => {
  const declared = declaredBy(mcpReq);
  if (declared.sampling) return says('done');
  throw new ProtocolError(-32021, 'sampling is required', { requiredCapabilities: { sampling: {} } });
};

/** In the legacy era a server asks its client in the middle of a call, over a session. */
const needsSession: Handler = () => says('There is no session to ask you over.');

const name = { user_name: elicit('Your name?', 'name') };

const tools: Record<string, Handler> = {
  test_simple_text: () => says('A text.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({ content: [resource('test://embedded-resource')] }),
  test_multiple_content_types: () => ({
    content: [text('Several.'), image, resource('test://mixed-content-resource', 'application/json')],
  }),
  test_tool_with_logging: logs,
  test_tool_with_progress: progress,
  test_error_handling: () => ({ ...says('This tool fails.'), isError: true }),
  test_sampling: needsSession,
  test_elicitation: needsSession,
  test_elicitation_sep1034_defaults: needsSession,
  test_elicitation_sep1330_enums: needsSession,
  test_missing_capability: missingCapability,
  test_streaming_elicitation: asks(name, () => says('done')),
  test_logging_tool: () => says('nothing logged'),
  test_input_required_result_elicitation: asks(name, (inputs) =>
    says(`Hello, ${inputs.user_name.content.name}!`),
  ),
  test_input_required_result_sampling: asks({ capital_question: sample('The capital?') }, (inputs) =>
    says(inputs.capital_question.content?.text ?? 'sampled'),
  ),
  test_input_required_result_list_roots: asks({ client_roots: roots }, (inputs) =>
    says(JSON.stringify(inputs.client_roots)),
  ),
  test_input_required_result_request_state: asks(
    { confirm: elicit('Confirm', 'ok', 'boolean') },
    () => says('state-ok'),
    'state',
  ),
  test_input_required_result_multiple_inputs: asks(
    { ...name, greeting: sample('A greeting'), client_roots: roots },
    () => says('done'),
    'state',
  ),
  test_input_required_result_multi_round: multiRound,
  test_input_required_result_tampered_state: asks(
    { confirm: elicit('Confirm', 'ok', 'boolean') },
    () => says('done'),
    'state',
  ),
  test_input_required_result_capabilities: onlyDeclared,
};

const tells = (...content: Json[]) => ({
  messages: content.map((one) => ({ role: 'user', content: one })),
});

const prompts: Record<string, (args: Json) => Handler> = {
  test_simple_prompt: () => () => tells(text('A prompt.')),
  test_prompt_with_arguments:
    ({ arg1, arg2 }) =>
    () =>
      tells(text(`With ${arg1} and ${arg2}.`)),
  test_prompt_with_embedded_resource:
    ({ resourceUri }) =>
    () =>
      tells(resource(resourceUri), text('Read it.')),
  test_prompt_with_image: () => () => tells(image, text('Look.')),
  test_input_required_result_prompt: () =>
    asks({ user_context: elicit('Which context?', 'context') }, () => tells(text('A prompt.'))),
};

const read = (uri: string): Json => {
  const id = /^test:\/\/template\/(\w+)\/data$/.exec(uri)?.[1];
  if (uri === 'test://static-text') return { uri, mimeType: 'text/plain', text: 'A text.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: png };
  if (id) return { uri, mimeType: 'application/json', text: JSON.stringify({ id }) };
  throw new ProtocolError(-32602, 'There is no such resource.', { uri });
};

const named = (names: readonly string[]) => names.map((one) => ({ name: one, description: `Is ${one}.` }));

/**
 * What the official conformance suite wants to find: every kind of content, prompts, resources, inputs that are asked
 * for. Only how it is served is the product's.
 */
export const newSuiteServer = (): Server => {
  const server = new Server(
    { name: 'suite', version: '1' },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { subscribe: true, listChanged: false },
        completions: {},
        logging: {},
      },
      requestState: { verify: codec.verify },
    },
  );
  const handle = (method: string, handler: (params: Json, context: ServerContext) => Json): void =>
    server.setRequestHandler(
      method as 'ping',
      (async (request: Json, context: ServerContext) => handler(request.params ?? {}, context)) as never,
    );
  const inputSchema = { type: 'object' };
  handle('tools/list', () => ({ tools: named(Object.keys(tools)).map((one) => ({ ...one, inputSchema })) }));
  handle('tools/call', ({ name }, context) => {
    const called = tools[name];
    if (!called) throw new ProtocolError(-32602, 'There is no such tool.');
    return called(context);
  });
  handle('prompts/list', () => ({ prompts: named(Object.keys(prompts)) }));
  handle('prompts/get', ({ name, arguments: args }, context) => prompts[name]!(args ?? {})(context));
  handle('resources/list', () => ({
    resources: ['static-text', 'static-binary'].map((one) => ({ uri: `test://${one}`, name: one })),
  }));
  handle('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  handle('resources/read', ({ uri }) => ({ contents: [read(uri)] }));
  handle('resources/subscribe', () => ({}));
  handle('resources/unsubscribe', () => ({}));
  handle('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
  handle('logging/setLevel', () => ({}));
  return server;
};
