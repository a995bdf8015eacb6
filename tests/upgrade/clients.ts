import { type Client, type ClientResponse, client } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';

export interface Clients {
  api: Client;
  app: Client;
}

/** Clients of both bases, as the administrator of the tests. */
export const clientsOf = (origin: string): Clients => ({
  api: client(`${origin}/api/v2`, adminKey),
  app: client(`${origin}/app/api`, adminKey),
});

/** The body of a successful response; throws on any other. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of several releases, read field by field
export const must = async (response: Promise<ClientResponse>): Promise<any> => {
  const { status, body, text } = await response;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
};
