import { urlFault } from '../lib/http-url.ts';
import { isObject } from '../lib/objects.ts';
import { isLoopbackHost } from '../lib/outgoing-proxy.ts';
import { characters, storageFaults } from '../lib/text.ts';
import { formFault } from './forms.ts';

type Json = Record<string, unknown>;

/** Something that a tool asks a person for while it is called. */
export interface InputRequest {
  mode: 'form' | 'url';
  message: string;
  /** The schema of the answers; null for an address. */
  schema: Json | null;
  url: string | null;
}

const maxRequests = 50;
const maxMessage = 10_000;

const addressFault = (url: unknown): string | null => {
  if (typeof url !== 'string') return 'an address that is no text';
  const fault = urlFault(url);
  if (fault !== null) return `an address that ${fault.replace(/; .*$/, '')}`;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopbackHost(hostname) ? null : 'an address that is not https';
};

/** What a request of a server (`elicitation/create`) asks for; or why people cannot be asked. */
export const readRequest = (method: unknown, params: unknown): InputRequest | { fault: string } => {
  if (method === 'sampling/createMessage') return { fault: 'a reply of a model (sampling)' };
  if (method === 'roots/list') return { fault: 'folders (roots)' };
  if (method !== 'elicitation/create' || !isObject(params)) {
    return { fault: 'something that is not elicitation' };
  }
  const { mode = 'form', message, requestedSchema, url } = params;
  if (typeof message !== 'string') return { fault: 'input without a message' };
  if (characters(message) > maxMessage) {
    return { fault: `input with a message of more than ${maxMessage.toLocaleString('en')} characters` };
  }
  if (storageFaults([message, requestedSchema, url]).length > 0) {
    return { fault: 'input with text that cannot be stored' };
  }
  if (mode === 'url') {
    const fault = addressFault(url);
    return fault === null ? { mode, message, schema: null, url: url as string } : { fault };
  }
  if (mode !== 'form') return { fault: 'input in a mode that is neither form nor url' };
  const fault = formFault(requestedSchema);
  return fault === null ? { mode, message, schema: requestedSchema as Json, url: null } : { fault };
};

/** The requests of one result, by the keys that the server gave them; or why people cannot be asked. */
export const readRequests = (
  given: Record<string, unknown>,
): Map<string, InputRequest> | { fault: string } => {
  const entries = Object.entries(given);
  if (entries.length > maxRequests) return { fault: `more than ${maxRequests} things at once` };
  const requests = new Map<string, InputRequest>();
  for (const [key, raw] of entries) {
    const { method, params } = isObject(raw) ? raw : {};
    const request = readRequest(method, params);
    if ('fault' in request) return request;
    requests.set(key, request);
  }
  return requests;
};
