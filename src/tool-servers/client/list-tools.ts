import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ToolDefinition } from '../definitions.ts';

/**
 * Lists all tools of a server as it sent them: the client library checks them, and drops annotations that it does not
 * know, which the hash of a definition covers. `timeoutMs` is for each page.
 */
export const listTools = async (
  { client, transport }: { client: Client; transport: Transport },
  timeoutMs: number,
): Promise<ToolDefinition[]> => {
  const raw = new Map<string, ToolDefinition>();
  const deliver = transport.onmessage!;
  transport.onmessage = ((message: JSONRPCMessage, extra: never) => {
    const { tools } = ((message as { result?: unknown }).result ?? {}) as { tools?: unknown };
    for (const tool of Array.isArray(tools) ? tools : []) raw.set(tool?.name, tool);
    deliver(message, extra);
  }) as NonNullable<Transport['onmessage']>;
  try {
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs, cacheMode: 'bypass' });
    return tools.map((tool) => raw.get(tool.name) ?? (tool as ToolDefinition));
  } finally {
    transport.onmessage = deliver;
  }
};
