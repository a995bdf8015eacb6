import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { qualityOf, type Site, type SiteRequest, type SiteResponse } from '../http/index.ts';
import type { BuiltFile, BuiltFiles } from './files.ts';
import { contentSecurityPolicy, securityHeaders } from './security-headers.ts';

const assets = '/assets/';
const html = 'text/html; charset=utf-8';

/** The smallest encoding that the client takes. */
const encodingFor = (accepted: string | undefined, file: BuiltFile): 'br' | 'gzip' | 'identity' => {
  const quality = (name: string) => qualityOf(accepted, name) ?? qualityOf(accepted, '*') ?? 0;
  const [br, gzip] = [file.br ? quality('br') : 0, file.gzip ? quality('gzip') : 0];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : 'identity';
};

const fileResponse = (path: string, file: BuiltFile, headers: IncomingHttpHeaders): SiteResponse => {
  const encoding = encodingFor(headers['accept-encoding'] as string | undefined, file);
  const etag = `"${file.hash}${encoding === 'identity' ? '' : `-${encoding}`}"`;
  const cached = {
    ...securityHeaders,
    'content-security-policy': contentSecurityPolicy(),
    // The name of an asset has a hash of its content in it.
    'cache-control': path.startsWith(assets) ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'accept-encoding',
  };
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known?.some((one) => one === etag || one === '*')) return { status: 304, headers: cached, body: '' };
  return {
    status: 200,
    headers: {
      ...cached,
      'content-type': file.type,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
    body: file[encoding]!,
  };
};

const page = (status: number, text: string, nonce?: string): SiteResponse => ({
  status,
  headers: {
    ...securityHeaders,
    'content-security-policy': contentSecurityPolicy(nonce),
    'content-type': html,
    'cache-control': 'no-store',
  },
  body: text,
});

/** For a platform without a built application, whose API works. */
const notBuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Platform</title>
<h1>The application is not built</h1>
<p>The API works: <a href="/api/v2">/api/v2</a> describes it.</p>
<p>To build the application, run this in the folder of the platform, and start the platform again:</p>
<pre>npm ci &amp;&amp; npm run console</pre>
</html>
`;

/** Time that a page waits for who is signed in, in milliseconds. After that it asks itself. */
const waitForMeMs = 300;

/** Returns the user who is signed in, so that the page need not ask; null if no one is. */
const readMe = async ({ headers, read }: SiteRequest): Promise<string | null> => {
  if (headers.cookie === undefined) return null;
  const me = read('/app/api/me').catch(() => null);
  return Promise.race([me, sleep(waitForMeMs, null, { ref: false })]);
};

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** index.html for one response. */
const indexPage = (
  { index, tagsOf }: BuiltFiles,
  { path, hasQuery }: SiteRequest,
  me: string | null,
): SiteResponse => {
  const nonce = randomBytes(16).toString('base64');
  const operations = me === null ? [] : (JSON.parse(me) as Me).operations;
  const text = index
    .replace('</head>', () => `${tagsOf({ path, hasQuery, operations })}</head>`)
    .replaceAll('__CSP_NONCE__', nonce)
    .replace('__ME__', () => escapeAttribute(me ?? ''));
  return page(200, text, nonce);
};

/** The approval page is small, and weighs at most 100 kB with everything: a larger logo is left out. */
const mostLogo = 10_000;

/** Who is signed in, as far as the approval page shows it. */
const viewerOf = (me: string | null): string => {
  if (me === null) return '';
  const { principal, branding } = JSON.parse(me) as Me;
  const shownLogo = (url: string) => (url.length > mostLogo ? '' : url);
  return JSON.stringify({
    principal: { id: principal.id, name: principal.name, role: principal.role },
    branding: {
      ...branding,
      logo_data_url: shownLogo(branding.logo_data_url),
      logo_dark_data_url: shownLogo(branding.logo_dark_data_url),
    },
  });
};

interface Me {
  operations: string[];
  principal: { id: string; name: string; role: string };
  branding: { logo_data_url: string; logo_dark_data_url: string };
}

/** The address of one review. It is the same page for every id: nothing of a review is in it. */
const approvePath = /^\/approve\/[^/]+\/?$/;

const namesHtml = ({ accept }: IncomingHttpHeaders): boolean => (qualityOf(accept, 'text/html') ?? 0) > 0;

/** At its own address the application is there for clients that take anything, too: programs look at links in messages. */
const takesHtml = ({ accept }: IncomingHttpHeaders): boolean =>
  accept === undefined ||
  (qualityOf(accept, 'text/html') ?? qualityOf(accept, 'text/*') ?? qualityOf(accept, '*/*') ?? 0) > 0;

/**
 * Serves the built files at their paths, and index.html at `/` and, to browsers, at every other path, because the
 * application has routes of its own; the approval page at the address of a review. Unknown assets stay unknown, so that a
 * missing script is no page.
 */
export const serveConsole =
  (files: () => BuiltFiles | null): Site =>
  async (request) => {
    const { path, headers } = request;
    const built = files();
    const file = built?.byPath.get(path);
    if (file) return fileResponse(path, file, headers);
    // The application would take the rest of `//host` for the address of another site.
    if (path.startsWith(assets) || path.startsWith('//')) return null;
    const isApproval = approvePath.test(path);
    if (!(path === '/' || isApproval ? takesHtml(headers) : namesHtml(headers))) return null;
    if (!built) return page(503, notBuilt);
    const me = await readMe(request);
    if (isApproval && built.approve !== null)
      return page(
        200,
        built.approve.replace('__ME__', () => escapeAttribute(viewerOf(me))),
      );
    return indexPage(built, request, me);
  };
