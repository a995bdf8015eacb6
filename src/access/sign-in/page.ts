import type { ShownFailure } from '../../http/index.ts';
import { errorStatus } from '../../lib/errors.ts';
import { escapeHtml } from '../../lib/html.ts';

const titles: Record<number, string> = {
  [errorStatus.forbidden]: 'You cannot sign in',
  [errorStatus.not_found]: 'There is nothing here',
  [errorStatus.too_many_requests]: 'Too many attempts',
  [errorStatus.service_unavailable]: 'Sign-in is not available',
};

/** The texts for failures that are not about the sign-in itself: nothing of the request can be in them. */
const general: Record<number, string> = {
  [errorStatus.not_found]: 'Sign-in with an identity provider is not set up here. Use an API key.',
  [errorStatus.too_many_requests]: 'Too many requests came from your address. Wait a minute, and try again.',
  [errorStatus.service_unavailable]:
    'The platform cannot do this at the moment. Wait a moment, and try again.',
};

/**
 * Returns the page that a browser shows for a failed sign-in. It loads nothing, and shows nothing of the request or of
 * the provider's response. `retryPath` starts another sign-in.
 */
export const failurePage = (
  { status, errorId, message, context }: ShownFailure,
  retryPath: string,
): string => {
  const title = titles[status] ?? 'The sign-in did not work';
  const shown = context.reason ? message : (general[status] ?? 'Something went wrong. Try again.');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1c2430; --quiet: #5b6675; --line: #d9dee5; --link: #1d5fd1; --on-link: #fff; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161c; --card: #1b212a; --text: #e8ecf2; --quiet: #9aa6b6; --line: #303947; --link: #7fb0ff; --on-link: #0d1420; } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; width: min(30rem, 100% - 2rem); margin: 1rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
h1 { margin: 0 0 .75rem; font-size: 1.35rem; line-height: 1.3; }
p { margin: 0 0 1.5rem; }
a { display: inline-block; padding: .6rem 1.1rem; border-radius: 8px; background: var(--link); color: var(--on-link); font-weight: 600; text-decoration: none; }
a:focus-visible { outline: 3px solid var(--text); outline-offset: 2px; }
small { display: block; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet); overflow-wrap: anywhere; }
code { font: .9em ui-monospace, monospace; user-select: all; }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escapeHtml(shown)}</p>
<a href="${escapeHtml(retryPath)}">Try again</a>
<small>Error id for your administrator: <code>${escapeHtml(errorId)}</code></small>
</main>
</body>
</html>
`;
};
