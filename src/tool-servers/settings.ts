import type { Vault } from '../lib/crypto.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { ToolServerRow } from './store.ts';

/** The client credentials for a server that is protected by OAuth (RFC 6749, section 4.4). */
export interface OAuthSettings {
  client_id: string;
  client_secret: string;
  /** The only authorization server that may receive the secret. */
  issuer: string;
  scope?: string;
}

export interface HttpSettings {
  transport: 'http';
  url: string;
  headers?: Record<string, string>;
  oauth?: OAuthSettings;
}

export interface StdioSettings {
  transport: 'stdio';
  command: string;
  args: string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** Way to reach a tool server. Values of headers and variables and the client secret are secret. */
export type ToolServerSettings = HttpSettings | StdioSettings;

/** A server with its settings open: what a connection needs. */
export interface OpenedToolServer {
  row: ToolServerRow;
  settings: ToolServerSettings;
}

/** Returns the secret values, which a server must not get to say back. */
export const secretsOf = (settings: ToolServerSettings): string[] =>
  settings.transport === 'http'
    ? [
        ...Object.values(settings.headers ?? {}),
        ...(settings.oauth === undefined ? [] : [settings.oauth.client_secret]),
      ]
    : Object.values(settings.env ?? {});

export const createSettingsStore = (vault: Vault) => {
  const sealed = new SealedSettings<ToolServerSettings>(vault, 'tool_servers', [
    'transport',
    'url',
    'command',
    'args',
    'cwd',
  ]);
  return {
    secrets: [sealed.column],
    seal: (id: string, settings: ToolServerSettings) => sealed.seal(id, settings),
    open: (row: ToolServerRow): OpenedToolServer => ({ row, settings: sealed.open(row) }),
    masked: (settings: Partial<ToolServerSettings>) => sealed.masked(settings),
  };
};

export type ToolServerSettingsStore = ReturnType<typeof createSettingsStore>;
