import { parseCookie, stringifySetCookie } from 'cookie';

/** The cookie of a session. */
export const sessionCookie = 'ap_session';

/**
 * The cookies of this deployment. With an https address they are `__Host-…; Secure`: no other host and no plain
 * connection can set them (RFC 6265bis, section 4.1.3.2). With an http address they have the bare name, and cookies
 * with the other name are not read.
 */
export class Cookies {
  readonly #secure: boolean;

  /** `publicUrl` is PUBLIC_URL; without it the address is an http one. */
  constructor(publicUrl: string | null) {
    this.#secure = publicUrl?.startsWith('https:') ?? false;
  }

  #nameOf(name: string): string {
    return this.#secure ? `__Host-${name}` : name;
  }

  /** The value of a cookie in the header `Cookie`; undefined if it is not there. */
  read(header: string | undefined, name: string): string | undefined {
    return header === undefined ? undefined : parseCookie(header)[this.#nameOf(name)];
  }

  /** The names of the cookies that begin with `prefix`; browsers send the oldest first (RFC 6265, section 5.4). */
  namesOf(header: string | undefined, prefix: string): string[] {
    const start = this.#nameOf(prefix);
    const names = header === undefined ? [] : Object.keys(parseCookie(header));
    return names.filter((name) => name.startsWith(start)).map((name) => prefix + name.slice(start.length));
  }

  /** The header `Set-Cookie` that sets a cookie; without `maxAge` (seconds), until the browser ends. */
  set(name: string, value: string, maxAge?: number): string {
    return stringifySetCookie({
      name: this.#nameOf(name),
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.#secure,
      ...(maxAge === undefined ? {} : { maxAge }),
    });
  }

  /** The header `Set-Cookie` that clears a cookie. */
  clear(name: string): string {
    return this.set(name, '', 0);
  }
}
