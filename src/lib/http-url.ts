/** The longest url that is accepted, in characters. */
export const maxUrlLength = 2_048;

const parse = (text: string): URL | null =>
  /^https?:\/\/[^/\\]/i.test(text) && URL.canParse(text) ? new URL(text) : null;

const hasCredentials = (url: URL): boolean => url.username !== '' || url.password !== '';

export const credentialsFault =
  'must not contain credentials (user:password@); they have fields of their own';

/** Returns why `url` is not an http or https address, or null. The message does not repeat the url. */
export const urlFault = (url: string): string | null => {
  if (url.length > maxUrlLength) return `must have at most ${maxUrlLength.toLocaleString('en')} characters`;
  if (/[\s\u0000-\u001f\u007f]/.test(url)) return 'must not contain spaces or control characters';
  const parsed = parse(url);
  if (!parsed) return 'must be an http or https address';
  return hasCredentials(parsed) ? credentialsFault : null;
};
