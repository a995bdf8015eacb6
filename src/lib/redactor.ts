/** Shorter values are no secrets: replacing every `1` or `on` would destroy texts. */
const shortest = 4;

const placeholder = '[redacted]';

/** The forms in which a server may repeat a secret: as it is, in JSON, in a url, and without its scheme. */
const formsOf = (secret: string): string[] => {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  const credential = /^(?:bearer|basic|token|apikey|api-key) +(.+)$/i.exec(secret)?.[1];
  if (credential !== undefined) {
    forms.push(credential);
    const decoded = /^basic /i.test(secret) ? Buffer.from(credential, 'base64').toString('utf8') : '';
    if (decoded.includes(':')) forms.push(decoded, decoded.slice(decoded.indexOf(':') + 1));
  }
  return forms;
};

/** Replaces the secrets of a server in what it sends. */
export class Redactor {
  #secrets: string[] = [];

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) this.add(secret);
  }

  /** Adds a secret that became known later, such as an access token. */
  add(secret: string): void {
    const forms = formsOf(secret).filter((form) => form.length >= shortest && !this.#secrets.includes(form));
    // The longest first, so that nothing of a secret remains that contains another one.
    this.#secrets = [...this.#secrets, ...forms].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let shown = text;
    for (const secret of this.#secrets) shown = shown.replaceAll(secret, placeholder);
    return shown;
  }

  /** The value with every text in it, keys included, redacted. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [this.text(key), this.value(field)]),
    );
  }
}
