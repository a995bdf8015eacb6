import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/**
 * Lists all tools of a server as it sent them. The client library refuses a whole list for one tool that is not valid, and
 * drops annotations that it does not know, which the hash of a definition covers: it gets a stub for each tool, and what
 * the tools say is checked by `definitionOf`. `timeoutMs` is for each page.
 */
export const listTools = async (
  { client, transport }: { client: Client; transport: Transport },
  timeoutMs: number,
): Promise<unknown[]> => {
  const raw: unknown[] = [];
  const deliver = transport.onmessage!;
  transport.onmessage = ((message: JSONRPCMessage, extra: never) => {
    const { result } = message as { result?: { tools?: unknown } };
    if (!Array.isArray(result?.tools)) return deliver(message, extra);
    const tools = result.tools.map((tool) => ({
      name: String(raw.push(tool) - 1),
      inputSchema: { type: 'object' },
    }));
    deliver({ ...message, result: { ...result, tools } } as JSONRPCMessage, extra);
  }) as NonNullable<Transport['onmessage']>;
  try {
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs, cacheMode: 'bypass' });
    return tools.map(({ name }) => raw[Number(name)]);
  } finally {
    transport.onmessage = deliver;
  }
};
