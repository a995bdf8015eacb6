/** The few commands of the W3C's WebDriver that tests need: https://www.w3.org/TR/webdriver2/ */

const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** An element of the page, as the protocol names it. */
export type Element = { [elementKey]: string };

const request = async (method: string, url: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    signal: AbortSignal.timeout(60_000),
  });
  const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
  if (!response.ok) throw new Error(`${value?.error}: ${value?.message}`);
  return value;
};

/** One window of a browser. */
export class WebDriver {
  readonly #session: string;

  private constructor(session: string) {
    this.#session = session;
  }

  /** Starts a browser through the driver at `address`. */
  static async start(address: string, capabilities: object): Promise<WebDriver> {
    const body = { capabilities: { alwaysMatch: capabilities } };
    const { sessionId } = (await request('POST', `${address}/session`, body)) as { sessionId: string };
    return new WebDriver(`${address}/session/${sessionId}`);
  }

  /** Resolves when the page is loaded. */
  async open(url: string): Promise<void> {
    await request('POST', `${this.#session}/url`, { url });
  }

  /** Makes the inside of the window this large. */
  async resize(width: number, height: number): Promise<void> {
    const resizeTo = (w: number, h: number) =>
      request('POST', `${this.#session}/window/rect`, { width: w, height: h });
    await resizeTo(width, height);
    const [w, h] = await this.run<[number, number]>(
      'return [outerWidth - innerWidth, outerHeight - innerHeight]',
    );
    if (w > 0 || h > 0) await resizeTo(width + w, height + h);
  }

  /** Runs the body of a function in the page; what it returns must be JSON or an element. */
  async run<T>(script: string, ...args: unknown[]): Promise<T> {
    return (await request('POST', `${this.#session}/execute/sync`, { script, args })) as T;
  }

  /** Clicks as a mouse does; fails if something else would get the click. WebKit's driver does not scroll to it. */
  async click(element: Element): Promise<void> {
    await this.run('arguments[0].scrollIntoView({ block: "nearest" })', element);
    await request('POST', `${this.#session}/element/${element[elementKey]}/click`, {});
  }

  /** Types into a field, in place of what is in it. */
  async fill(element: Element, text: string): Promise<void> {
    const address = `${this.#session}/element/${element[elementKey]}`;
    await request('POST', `${address}/clear`, {});
    await request('POST', `${address}/value`, { text });
  }

  /** A picture of the window, as PNG. */
  async picture(): Promise<Buffer> {
    return Buffer.from((await request('GET', `${this.#session}/screenshot`)) as string, 'base64');
  }

  async close(): Promise<void> {
    await request('DELETE', this.#session);
  }
}
