import { expect } from 'vitest';
import type { ClientResponse } from './http.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export const eras = ['legacy', 'modern'] as const;
export type TestEra = (typeof eras)[number];

/** The latest revision of each era. */
export const revisions = { legacy: '2025-11-25', modern: '2026-07-28' } as const;

const envelope = {
  'io.modelcontextprotocol/protocolVersion': revisions.modern,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface CallOptions {
  key?: string;
  /** In lower case. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
  meta?: object;
}

/** One endpoint of the tool protocol, called with raw fetch. */
export class RawEndpoint {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Posts a message as it is. */
  fetch(message: unknown, { key = this.#key, headers = {}, signal }: CallOptions = {}): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message),
      signal: signal ?? AbortSignal.timeout(90_000),
    });
  }

  async post(
    message: unknown,
    options?: CallOptions,
  ): Promise<Omit<ClientResponse, 'text'> & { text: string }> {
    const response = await this.fetch(message, options);
    const text = await response.text();
    let body: Json;
    try {
      body = JSON.parse(text);
    } catch {
      // An event stream, or nothing.
    }
    return { status: response.status, headers: response.headers, body, text };
  }

  /** A request of an era, with the headers that belong to it. */
  request(era: TestEra, method: string, params: Json = {}, options: CallOptions = {}) {
    const _meta = { ...(era === 'modern' ? envelope : {}), ...options.meta };
    const headers: Record<string, string> = { 'mcp-protocol-version': revisions[era] };
    if (era === 'modern') headers['mcp-method'] = method;
    if (era === 'modern' && params.name) headers['mcp-name'] = params.name;
    return [
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
      { ...options, headers: { ...headers, ...options.headers } },
    ] as const;
  }

  rpc(era: TestEra, method: string, params?: Json, options?: CallOptions) {
    return this.post(...this.request(era, method, params, options));
  }

  /** The structured result of a call that succeeds. */
  async call(name: string, args: Json = {}, options: CallOptions & { era?: TestEra } = {}): Promise<Json> {
    const { body, text } = await this.rpc(
      options.era ?? 'modern',
      'tools/call',
      { name, arguments: args },
      options,
    );
    expect(body?.result, text).toBeDefined();
    expect(body.result.isError, text).not.toBe(true);
    expect(body.result.content).toEqual([
      { type: 'text', text: JSON.stringify(body.result.structuredContent) },
    ]);
    return body.result.structuredContent;
  }

  /** The text of a call that is refused. */
  async refusal(
    name: string,
    args: Json = {},
    options: CallOptions & { era?: TestEra } = {},
  ): Promise<string> {
    const { body, text } = await this.rpc(
      options.era ?? 'modern',
      'tools/call',
      { name, arguments: args },
      options,
    );
    expect(body?.result?.isError, text).toBe(true);
    expect(body.result.content).toEqual([{ type: 'text', text: expect.any(String) }]);
    return body.result.content[0].text;
  }
}

/** The messages in the text of an event stream. */
export const eventsIn = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)));
