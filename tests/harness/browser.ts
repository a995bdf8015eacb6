/** A response of which the body was read. */
export interface Page {
  url: string;
  status: number;
  headers: Headers;
  text: string;
  /** Where it redirects to, as an absolute address; null if it does not. */
  location: string | null;
}

interface StoredCookie {
  name: string;
  value: string;
  path: string;
}

/** What a browser does for a sign-in: it keeps cookies, and follows redirects one at a time. */
export class Browser {
  /** By origin, then by name and path. */
  readonly #cookies = new Map<string, Map<string, StoredCookie>>();

  /** The header `Cookie` for `url`; null if there is nothing to send. */
  cookiesFor(url: string): string | null {
    const { origin, pathname } = new URL(url);
    const fitting = [...(this.#cookies.get(origin)?.values() ?? [])].filter(({ path }) =>
      pathname.startsWith(path),
    );
    return fitting.length === 0 ? null : fitting.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** The value of a cookie of `origin`. */
  cookie(origin: string, name: string): string | undefined {
    return [...(this.#cookies.get(origin)?.values() ?? [])].find((cookie) => cookie.name === name)?.value;
  }

  /** Sets a cookie; an empty value removes it. */
  setCookie(origin: string, name: string, value: string, path = '/'): void {
    const jar = this.#cookies.get(origin) ?? new Map<string, StoredCookie>();
    this.#cookies.set(origin, jar);
    if (value === '') jar.delete(`${name} ${path}`);
    else jar.set(`${name} ${path}`, { name, value, path });
  }

  /** Opens `url` without following a redirect. */
  get(url: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(url, headers);
  }

  /** Sends a form, as a browser does, without following a redirect. */
  post(url: string, fields: Record<string, string>): Promise<Page> {
    return this.#send(url, {}, { method: 'POST', body: new URLSearchParams(fields) });
  }

  async #send(url: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Page> {
    const cookie = this.cookiesFor(url);
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie === null ? {} : { cookie }), ...headers },
      signal: AbortSignal.timeout(90_000),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/';
      const [name, value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      this.setCookie(
        new URL(url).origin,
        name,
        attributes.some((a) => /^max-age=0$/i.test(a)) ? '' : value,
        path,
      );
    }
    const location = response.headers.get('location');
    return {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? null : new URL(location, url).href,
    };
  }

  /** Opens `url` and follows redirects until `done` or a response that is none. */
  async follow(url: string, done: (page: Page) => boolean = () => false): Promise<Page> {
    let page = await this.get(url);
    for (let redirects = 0; page.location !== null && !done(page); redirects++) {
      if (redirects === 20) throw new Error(`too many redirects, the last one to ${page.location}`);
      page = await this.get(page.location);
    }
    return page;
  }
}
