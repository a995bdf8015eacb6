import type { Client, ClientResponse } from '../../tests/harness/http.ts';

/** A response of the API as the demo reads it: fields of text, and others that each part knows. */
// biome-ignore lint/suspicious/noExplicitAny: the demo shows the API from outside, without the types of the platform
export type Body = Record<string, any>;

/** What a part of the demo works with. */
export interface DemoContext {
  /** Of `/api/v2` and of `/app/api`. */
  api: Client;
  app: Client;
  /** The address of the platform, and the key that the printed commands use. */
  url: string;
  key: string;
  /** The demo ends after each part has shown its result once. */
  once: boolean;
  /** Aborted when the demo ends. */
  signal: AbortSignal;
}

/** One part of the demo. */
export interface Part {
  /** Prints what has changed since the last call. Resolves to true as soon as the part has shown its result once. */
  show(): Promise<boolean>;
}

/** Resolves to the body of a successful response. Any other response rejects with the error that a user would see. */
export const must = async (response: Promise<ClientResponse>): Promise<Body> => {
  const { status, body, text } = await response;
  if (status < 300) return body;
  throw new Error(`${status} ${text}`);
};
