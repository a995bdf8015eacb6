import { type FormPart, form } from '../harness/form.ts';
import type { Client, ClientResponse } from '../harness/http.ts';
import { ok } from './fixture.ts';

export const sendForm = (client: Client, path: string, parts: FormPart[]): Promise<ClientResponse> => {
  const { body, headers } = form(parts);
  return client.raw('POST', path, body, { headers });
};

/** Uploads a file to `path`, the address of a conversation or Work Item. */
export const upload = (
  client: Client,
  path: string,
  filename: string,
  content: string | Uint8Array,
  more: FormPart[] = [],
) => ok(sendForm(client, `${path}/files`, [{ name: 'file', filename, content }, ...more]));
