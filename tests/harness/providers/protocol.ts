import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from './strict.ts';

/** What a fake model says, whatever the protocol. */
export interface Turn {
  text?: string;
  /** `signature` is what the provider wants back with the next request. */
  reasoning?: { text: string; signature: string };
  /** `args` as text is sent as it is. */
  calls?: { id: string; name: string; args: unknown }[];
  finish?: 'length' | 'filter';
  /** `input` includes what was cached. */
  usage?: { input: number; cached: number; output: number; reasoning: number };
  /** The usage object as it is sent, instead of `usage`; null: none. */
  sentUsage?: Record<string, unknown> | null;
}

export const defaultUsage = { input: 100, cached: 40, output: 20, reasoning: 8 };

/** A request that a fake provider received. */
export interface ProviderRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the wire format as it is
  body: any;
}

/** One provider's wire format, as its documentation describes it. */
export interface Protocol {
  kind: string;
  /** What follows the host in `base_url`. */
  basePath: string;
  /** A model that reasons, and the settings of a configuration besides name, model and base_url. */
  model: string;
  settings: Record<string, unknown>;
  /** The secrets of `settings`. */
  secrets: string[];
  /** Whether the request has the credentials of `settings`. */
  isAuthorized(request: ProviderRequest): boolean;
  /** How the provider refuses the request; null if it takes it. */
  refuses(request: ProviderRequest): Refusal | null;
  isStream(request: ProviderRequest): boolean;
  streamType: string;
  whole(turn: Turn): unknown;
  /** Each chunk is one write; the last one completes the reply. */
  stream(turn: Turn): Buffer[];
  /** The body of an error response. */
  error(status: number, message: string): unknown;
  /** The response to a conversation that is too long. */
  tooLong: { status: number; body: unknown };
  /** The chunk of an error inside a stream, after which it ends. */
  streamError(): Buffer;
  /** The names of the tools that the request offers. */
  toolNames(request: ProviderRequest): string[];
  /** The request's limit of output tokens. */
  outputLimit(request: ProviderRequest): number | undefined;
  /** The places in the conversation where `signature` was sent back. */
  signatures(request: ProviderRequest): string[];
}

/** A server-sent event. */
export const event = (data: unknown, name?: string): Buffer =>
  Buffer.from(
    `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  );

export const argsText = (args: unknown): string => (typeof args === 'string' ? args : JSON.stringify(args));

/** `text` in pieces of a word. */
export const words = (text: string): string[] => text.match(/\s*\S+\s*/g) ?? [];

/** `text` in two pieces. */
export const halves = (text: string): [string, string] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
};

/** All values of the key `key` in a JSON value. */
export const valuesOf = (value: unknown, key: string): string[] => {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name === key && typeof field === 'string' ? [field] : valuesOf(field, key),
  );
};
