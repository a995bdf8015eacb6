import { tmpdir } from 'node:os';
import { systemClock } from '../../src/lib/clock.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { Connection } from '../../src/tool-servers/client/connection.ts';
import { ServerMemory } from '../../src/tool-servers/client/memory.ts';
import type { ToolDefinition } from '../../src/tool-servers/definitions.ts';
import type { ToolServerSettings } from '../../src/tool-servers/settings.ts';

/**
 * The product's connection to a tool server, for the official conformance suite: it lists the tools and calls each of
 * them. The last argument is the url; MCP_CONFORMANCE_CONTEXT has credentials.
 */
const url = process.argv.at(-1)!;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>;
const { client_id, client_secret } = context;

/** The issuer that the suite does not tell: what a person would read and configure. */
const issuerOf = async (): Promise<string> => {
  const response = await fetch(new URL(`/.well-known/oauth-protected-resource${new URL(url).pathname}`, url));
  return ((await response.json()) as { authorization_servers: string[] }).authorization_servers[0]!;
};

const settings: ToolServerSettings = {
  transport: 'http',
  url,
  ...(client_id && client_secret ? { oauth: { client_id, client_secret, issuer: await issuerOf() } } : {}),
};
const egress = createEgress({});
const parts = {
  egress,
  log: silentLogger,
  memory: new ServerMemory(systemClock),
  folder: tmpdir(),
  path: '',
  allowStdio: false,
  live: new Set<Connection>(),
};
const row = { id: 'suite', settings: 'suite', transport: 'http', max_concurrency: 1 } as never;

/** An argument for each property. */
const argumentsFor = (schema: Record<string, unknown>): Record<string, unknown> => {
  const values: Record<string, unknown> = { integer: 3, number: 3, boolean: true, object: {}, array: [] };
  const properties = (schema.properties ?? {}) as Record<string, { type?: string }>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type = 'string' }]) => [name, values[type] ?? 'text']),
  );
};

const connection = new Connection(parts, { row, settings }, true);
try {
  for (const definition of (await connection.list()) as ToolDefinition[]) {
    const args = argumentsFor(definition.inputSchema);
    const outcome = await connection.call({
      definition,
      args,
      depth: 0,
      idempotent: false,
      input: null,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    });
    console.log(definition.name, JSON.stringify(outcome));
  }
} finally {
  await connection.close();
  await egress.close();
}
