/** No browser takes an answer for something else than its Content-Type says. */
const everywhere = { 'x-content-type-options': 'nosniff' };

/** Browsers then use no plain HTTP for a year. Other hosts below this one are not ours to bind. */
const overHttps = { ...everywhere, 'strict-transport-security': 'max-age=31536000' };

/** The headers of every response of an installation that people reach at `publicUrl`. */
export const responseHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith('https:') ? overHttps : everywhere;
