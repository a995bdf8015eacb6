import { Browser, type Page } from './browser.ts';

/** The path of the callback, below PUBLIC_URL. */
export const callbackPath = '/app/api/sign-in/callback';

/** A finished sign-in. */
export interface SignedIn {
  browser: Browser;
  /** The header `Cookie` of the session; null if the sign-in was refused. */
  cookie: string | null;
  /** The response of the callback. */
  page: Page;
}

/** Begins a sign-in and returns the address of the provider to which the browser is sent. */
export const startSignIn = async (browser: Browser, origin: string, returnTo?: string): Promise<URL> => {
  const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
  const page = await browser.get(`${origin}/app/api/sign-in${query}`);
  if (page.status !== 303) throw new Error(`the sign-in did not start: ${page.status} ${page.text}`);
  return new URL(page.location!);
};

/** Follows the provider's redirects and returns the address of the callback, without opening it. */
export const passProvider = async (browser: Browser, provider: URL, account: string): Promise<string> => {
  provider.searchParams.set('login_hint', account);
  const page = await browser.follow(
    provider.href,
    ({ location }) => new URL(location!).pathname === callbackPath,
  );
  if (page.location === null) throw new Error(`the provider sent no one back: ${page.status} ${page.text}`);
  return page.location;
};

/** Signs `account` in with the provider of the platform at `origin`. */
export const signIn = async (
  { origin }: { origin: string },
  account: string,
  { browser = new Browser(), returnTo }: { browser?: Browser; returnTo?: string } = {},
): Promise<SignedIn> => {
  const callback = await passProvider(browser, await startSignIn(browser, origin, returnTo), account);
  const page = await browser.get(callback);
  const value = page.status === 303 ? browser.cookie(origin, 'ap_session') : undefined;
  return { browser, cookie: value === undefined ? null : `ap_session=${value}`, page };
};
