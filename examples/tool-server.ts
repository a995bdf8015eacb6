import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * A tool server with two tools, to try tool servers and approvals: docs/first-hour.md says how. It listens on 127.0.0.1
 * and checks no credentials. Environment: PORT.
 */
const port = Number(process.env.PORT ?? 9000);

/** Replace these tools with your own. */
const newServer = (): McpServer => {
  const server = new McpServer({ name: 'payments', version: '1' });
  server.registerTool(
    'list_invoices',
    { description: 'Lists the open invoices.', annotations: { readOnlyHint: true } },
    async () => ({ content: [{ type: 'text', text: '2026-0117: 480 EUR' }] }),
  );
  server.registerTool(
    'pay_invoice',
    {
      description: 'Pays an invoice.',
      inputSchema: z.object({ invoice: z.string(), amount: z.number().positive() }),
    },
    async ({ invoice, amount }) => {
      console.log(`paid ${amount} for ${invoice}`);
      return { content: [{ type: 'text', text: `Paid ${amount} for the invoice ${invoice}.` }] };
    },
  );
  return server;
};

const handler = createMcpHandler(newServer);
const http = createServer(async (request, response) => {
  const { method = 'GET', url = '/', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const reply = await handler.fetch(
    new Request(`http://127.0.0.1:${port}${url}`, {
      method,
      headers: new Headers(headers as Record<string, string>),
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    }),
  );
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  response.end(Buffer.from(await reply.arrayBuffer()));
});
http.listen(port, '127.0.0.1', () =>
  console.log(`a tool server at http://127.0.0.1:${port}/mcp; Ctrl-C ends it`),
);
