import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Agent } from '../agents/index.ts';
import { jsonSchemaOf, validate, type WebContext } from '../http/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { scopesAllow } from '../lib/principal.ts';
import { version } from '../lib/version.ts';
import type { Serving } from './handler.ts';
import type { Tool } from './tools.ts';

/** Interval at which a call that waits reports progress, in milliseconds. */
const progressEveryMs = 5_000;

/** The most agents that may have called each other before a call. */
const maxDepth = 5;

/** The header that an agent of this platform sends when it calls a tool. */
const depthHeader = 'agent-platform-depth';

/** Returns how many agents called each other before this request. Throws 422 if they are too many, or it is no number. */
const depthOf = ({ headers }: Pick<WebContext, 'headers'>): number => {
  const given = headers[depthHeader] ?? '0';
  const depth = /^\d{1,15}$/.test(String(given)) ? Number(given) : Number.NaN;
  if (depth <= maxDepth) return depth;
  throw unprocessable([
    {
      path: 'Agent-Platform-Depth',
      message: Number.isNaN(depth)
        ? 'must be a whole number'
        : `is ${depth}: at most ${maxDepth} agents may call each other in a row`,
    },
  ]);
};

const checkScope = ({ principal }: WebContext, { scope }: Tool): void => {
  if (scopesAllow(principal.scopes, scope)) return;
  throw new ApiError('forbidden', `This requires the scope ${scope}, which the API key does not have.`);
};

const definitionOf = ({ name, title, description, annotations, input, output }: Tool) => ({
  name,
  title,
  description,
  inputSchema: { ...jsonSchemaOf(input, 'input'), type: 'object' as const },
  outputSchema: { ...jsonSchemaOf(output, 'output'), type: 'object' as const },
  annotations: { ...annotations, openWorldHint: false },
});

/** Makes what reports progress every 5 s, rising, until it is disposed. */
const reportProgress = (report: (progress: number) => Promise<void>): Disposable => {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += progressEveryMs / 1_000;
    // A client that is gone does not need it.
    report(seconds).catch(() => {});
  }, progressEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/** Makes the servers of agents: one for each request, with the tools of the agent's mode. */
export const createAgentServers = (
  toolsByMode: Record<Agent['mode'], readonly Tool[]>,
): ((context: WebContext<Agent>, serving: Serving) => Server) => {
  const known = Object.entries(toolsByMode).map(([mode, list]) => {
    const sorted = [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
    const byName = new Map(sorted.map((one) => [one.name, one]));
    return [mode, { byName, definitions: sorted.map(definitionOf) }] as const;
  });
  const byMode = new Map(known);

  return (context, { era, takesEvents }) => {
    const { found: agent, actor, left, signal } = context;
    const { byName, definitions } = byMode.get(agent.mode)!;
    const server = new Server(
      { name: 'agent-platform', title: agent.name, version },
      {
        capabilities: { tools: { listChanged: false } },
        ...(agent.description ? { instructions: agent.description } : {}),
      },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: definitions }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const called = byName.get(params.name);
      if (!called)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
      const progressToken = takesEvents ? params._meta?.progressToken : undefined;
      try {
        checkScope(context, called);
        const depth = depthOf(context);
        const args = validate(called.input, params.arguments ?? {}, 'body');
        using _ =
          progressToken === undefined
            ? null
            : reportProgress((progress) =>
                mcpReq.notify({
                  method: 'notifications/progress',
                  params: { progressToken, progress },
                }),
              );
        const result = called.output.parse(
          await called.run({ agent, actor, era, depth, left, signal }, args),
        ) as Record<string, unknown>;
        return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
      } catch (error) {
        const { code, message, error_id } = context.failureOf(error);
        const quoted = code === 'internal_error' ? ` error_id: ${error_id}` : '';
        return { content: [{ type: 'text', text: `${code}: ${message}${quoted}` }], isError: true };
      }
    });
    return server;
  };
};
