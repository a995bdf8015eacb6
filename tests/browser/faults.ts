import type { BrowserContext, Page } from 'playwright-core';

interface Faults {
  found: string[];
  /** What the test causes itself. */
  expected: RegExp[];
}

const faults = new WeakMap<BrowserContext, Faults>();

/** Runs in the page: reports each violation of its policy. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  reportViolation(\`\${event.effectiveDirective} blocked \${event.blockedURI} of \${event.sourceFile}:\${event.lineNumber} \${event.sample}\`))`;

const path = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);

/**
 * Collects what goes wrong on all pages of `context`: violations of the policy, errors on the console, exceptions that
 * nothing catches, requests that fail, and responses that are errors. Requests that a page itself aborts are none.
 */
export const collectFaults = async (context: BrowserContext): Promise<void> => {
  const found: string[] = [];
  faults.set(context, { found, expected: [] });
  await context.exposeBinding('reportViolation', (_source, violation: string) => {
    found.push(`CSP ${violation}`);
  });
  await context.addInitScript(reportViolations);
  context.on('console', (message) => {
    // A header that the browser does not understand is a warning.
    const isFault = message.type() === 'error' || /policy/i.test(message.text());
    if (isFault) found.push(`console ${message.text()} (${path(message.location().url)})`);
  });
  context.on('weberror', (error) => found.push(`exception ${error.error().stack ?? error.error().message}`));
  context.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') found.push(`request ${request.method()} ${path(request.url())} ${why}`);
  });
  context.on('response', (response) => {
    const { status, url, request } = {
      status: response.status(),
      url: response.url(),
      request: response.request(),
    };
    if (status >= 400) found.push(`${status} ${request.method()} ${path(url)}`);
  });
};

/**
 * The test causes faults that match `pattern` on `page`, which do not fail it. A fault is a line that begins with
 * `CSP`, `console`, `exception`, `request`, or the status of a response: `404 GET /app/api/schedules/x`. A response that
 * is an error is a line of the console, too.
 */
export const expectFault = (page: Page, pattern: RegExp): void => {
  faults.get(page.context())!.expected.push(pattern);
};

/** The faults of a context that its test does not expect. */
export const unexpectedFaults = (context: BrowserContext): string[] => {
  const { found, expected } = faults.get(context)!;
  return found.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
};
