import { type Agent, agentCalls } from '../agents/index.ts';
import type { Services } from '../feature.ts';
import { type Route, readJson, type WebContext, webRoute } from '../http/index.ts';
import { ApiError } from '../lib/errors.ts';
import { type ProtocolHandler, rpcCodes, rpcError } from './handler.ts';
import { checkOrigin } from './origins.ts';

const object = { type: 'object', additionalProperties: true };
const messages = { oneOf: [object, { type: 'array', items: object, minItems: 1 }] };

const rpcErrorSchema = {
  type: 'object',
  required: ['jsonrpc', 'error'],
  properties: {
    jsonrpc: { type: 'string', const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' } },
      additionalProperties: true,
    },
  },
};

const refusal = (description: string) => ({
  description,
  content: {
    'application/json': {
      schema: { anyOf: [{ $ref: '#/components/schemas/Error' }, rpcErrorSchema] },
    },
  },
});

const document = {
  requestBody: {
    required: true,
    description: 'A JSON-RPC 2.0 message; an array of them in the revisions that have arrays.',
    content: { 'application/json': { schema: messages } },
  },
  responses: {
    200: {
      description: 'The result, as JSON or, if the request accepts it, as an event stream.',
      content: {
        'application/json': { schema: messages },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
    202: { description: 'Accepted: the input has only notifications or responses. No body.' },
    400: refusal('The body is too large, not JSON, or not a JSON-RPC message.'),
    404: refusal('The agent does not exist, or (2026-07-28) the method.'),
  },
};

/** Returns the JSON of the body, or the error of JSON-RPC for a body that is not JSON. */
const readMessage = ({ bytes, headers }: WebContext): { body: unknown } | { refusal: Response } => {
  try {
    const json = readJson(bytes, headers['content-type'], headers['content-encoding']);
    if (json !== undefined) return { body: json.value };
    return { refusal: rpcError(400, rpcCodes.parseError, 'A JSON-RPC message is required.') };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refusal: rpcError(400, rpcCodes.parseError, error.message) };
  }
};

export const toolProtocolRoutes = (
  { db, config, publicUrl }: Pick<Services, 'db' | 'config' | 'publicUrl'>,
  protocol: ProtocolHandler<WebContext<Agent>>,
): Route[] => [
  webRoute({
    id: 'callAgent',
    role: 'member',
    // The endpoint shows the agent. Each tool requires the scope of what it does as well.
    scope: 'agents:read',
    base: 'v1',
    request: 'POST /agents/{agent_id}/mcp',
    summary: 'Call an agent by the Model Context Protocol',
    description:
      'The agent as a server of the Model Context Protocol over streamable HTTP, without sessions, in the revisions from 2024-11-05 to 2026-07-28. A worker agent has tools for its Work Items, a conversational agent has tools for questions. A key with scopes needs `work_items` or `conversations` as well for the tools.',
    bearerOnly: true,
    checkOrigin: ({ headers }) => checkOrigin(headers.origin, publicUrl(), config.host),
    moreMethods: ['GET', 'PUT', 'PATCH', 'DELETE'],
    document,
    find: ({ params }) => db.run((executor) => agentCalls.get(executor, params.agent_id!)),
    handler: async (context) => {
      if (context.method !== 'POST') {
        return rpcError(405, rpcCodes.methodNotAllowed, 'Send a POST.', { allow: 'POST' });
      }
      const message = readMessage(context);
      if ('refusal' in message) return message.refusal;
      const { headers, left, signal } = context;
      return protocol.serve({ headers, body: message.body, left, signal }, context);
    },
  }),
];
