/** Shorter values are no secrets: replacing every `1` or `on` would destroy texts. */
const shortest = 4;

const placeholder = '[redacted]';

/** Shorter pieces of base64 are in many texts. */
const shortestBase64 = 6;

/**
 * The base64 of a secret wherever it begins in what was encoded: at the first, second or third byte of a group. The
 * characters at its ends that depend on what stands next to it are left out, so each form is in every such text. With the
 * whole form, padded or not, nothing of a text that is the secret alone remains.
 */
const base64Of = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  const forms = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const certain = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((before * 8) / 6), certain);
  });
  const padded = bytes.toString('base64');
  return [padded, padded.replaceAll('=', ''), ...forms]
    .flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
    .filter((form) => form.length >= shortestBase64);
};

/** The forms in which a server may repeat a secret: as it is, in JSON, in a url, in base64, and without its scheme. */
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
    const plain = formsOf(secret).filter((form) => form.length >= shortest);
    const forms = [...new Set([...plain, ...plain.flatMap(base64Of)])].filter(
      (form) => !this.#secrets.includes(form),
    );
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
