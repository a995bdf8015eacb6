/** `text` in this ANSI colour, if a terminal shows it. */
export const color = (code: number, text: string): string =>
  process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text;

/** Prints one line: the time, what it is about, and the text. */
export const print = (what: string, text: string): void =>
  console.log(`${color(2, new Date().toISOString().slice(11, 23))}  ${color(36, what.padEnd(10))} ${text}`);
