import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Services } from '../../feature.ts';
import type { Redactor } from '../../lib/redactor.ts';
import type { OpenedToolServer } from '../settings.ts';
import { ProcessFailure } from './failures.ts';
import { createServerFetch } from './http-fetch.ts';
import type { ServerMemory } from './memory.ts';
import { createTokens } from './oauth.ts';
import { StdioTransport } from './stdio-transport.ts';

export interface TransportParts extends Pick<Services, 'egress' | 'log'> {
  memory: ServerMemory;
  /** Folder in which processes get their temporary folders. */
  folder: string;
  /** PATH of processes. */
  path: string;
  /** True if a server may be a local process. */
  allowStdio: boolean;
}

export type ServerTransport = StreamableHTTPClientTransport | StdioTransport;

/**
 * Returns a transport to the server, which has not been started. `redactor` gets the access tokens of the server, and
 * takes secrets out of what a local process logs. `onLoginWanted` is called when the server names where people log in. Throws ProcessFailure if local processes are not permitted.
 */
export const createTransport = (
  { egress, log, memory, folder, path, allowStdio }: TransportParts,
  { row, settings }: OpenedToolServer,
  redactor: Redactor,
  onLoginWanted: () => void,
): ServerTransport => {
  if (settings.transport === 'stdio') {
    if (!allowStdio) {
      throw new ProcessFailure('Local processes are not permitted here (ALLOW_STDIO_TOOL_SERVERS).');
    }
    const show = (text: string) =>
      log.info({ tool_server_id: row.id, stderr: redactor.text(text) }, 'a tool server wrote to stderr');
    return new StdioTransport({ settings, folder, path, log: show });
  }
  const { oauth } = settings;
  const tokens = oauth && memory.tokensOf(row, () => createTokens(egress, oauth));
  return new StreamableHTTPClientTransport(new URL(settings.url), {
    fetch: createServerFetch(egress, settings, onLoginWanted),
    onInsufficientScope: 'throw',
    ...(tokens
      ? {
          authProvider: {
            ...tokens,
            token: async () => {
              const token = await tokens.token();
              if (token !== undefined) redactor.add(token);
              return token;
            },
          },
        }
      : {}),
  });
};
