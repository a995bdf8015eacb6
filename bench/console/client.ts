/** A signed-in browser without pages: its requests have the cookie and the headers of one. */
export interface Client {
  get(
    path: string,
    etag?: string,
  ): Promise<{ status: number; bytes: number; ms: number; etag: string | null; text: string }>;
  send(method: string, path: string, body: object): Promise<unknown>;
}

/** Signs in with `key`. */
export const newClient = async (origin: string, key: string): Promise<Client> => {
  const signedIn = await fetch(`${origin}/app/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key }),
  });
  if (signedIn.status !== 200) throw new Error(`no session: ${await signedIn.text()}`);
  const headers = {
    cookie: signedIn.headers.getSetCookie()[0]!.split(';')[0]!,
    'sec-fetch-site': 'same-origin',
    accept: 'application/json',
  };
  return {
    get: async (path, etag) => {
      const begun = performance.now();
      const response = await fetch(origin + path, {
        headers: { ...headers, ...(etag ? { 'if-none-match': etag } : {}) },
      });
      const text = await response.text();
      return {
        status: response.status,
        bytes: Buffer.byteLength(text),
        ms: performance.now() - begun,
        etag: response.headers.get('etag'),
        text,
      };
    },
    send: async (method, path, body) => {
      const response = await fetch(origin + path, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
      return text === '' ? null : JSON.parse(text);
    },
  };
};

/** The value below which `share` of the numbers are. */
export const percentile = (numbers: readonly number[], share: number): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};
