/** The longest name of a file, in characters. */
const maxCharacters = 255;

/** Control characters, and marks that change the direction of text, so that `fdp.exe` looks like `exe.pdf`. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A name without its last extension, and that with its dot; a dot at the beginning is no extension. */
const split = (name: string): [base: string, extension: string] => {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
};

/** Cuts the name before its extension, so that it and `suffix` have at most 255 characters. */
const shorten = (name: string, suffix = ''): string => {
  const [base, extension] = split(name);
  const kept = [...extension].length < maxCharacters / 2 ? extension : '';
  const start = kept === '' ? [...name] : [...base];
  return start.slice(0, maxCharacters - [...kept].length - suffix.length).join('') + suffix + kept;
};

/** The name under which a file that a client names is kept: the last part of a path, without what cannot be seen. */
export const cleanName = (given: string): string => {
  const last = given.toWellFormed().replaceAll(hidden, '').split(/[/\\]/).at(-1)!.trim();
  return ['', '.', '..'].includes(last) ? 'file' : shorten(last).trim();
};

/** The name, or the first of `name (2).ext`, `name (3).ext` … that is not taken. */
export const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = shorten(name, ` (${number})`);
  return free;
};

/** The extension of a name in lower case, without its dot. */
export const extensionOf = (name: string): string => split(name)[1].slice(1).toLowerCase();
