import { createHash } from 'node:crypto';

/** PostgreSQL cuts names that it reads at this many bytes. */
const nameBytes = 63;

/** Names that no rule below changes, as most are. */
const plain = /^[A-Za-z0-9_$.:?*-]{1,60}$/;

const clipped = (name: string): string => {
  if (plain.test(name)) return name;
  const bytes = Buffer.from(name);
  if (bytes.length <= nameBytes) return name;
  let end = nameBytes;
  // Not in the middle of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
};

const folded = (name: string): string => clipped(name).toLowerCase();

/**
 * The one of `items` that `name` means: of the same letters, else of the same without case. Several: all of them. A name
 * in SQL is cut at 63 bytes before it gets here, so that it may mean several longer ones; one in code is whole.
 */
export const matching = <T>(items: readonly T[], name: string, nameOf: (item: T) => string): T[] => {
  const whole = items.filter((item) => nameOf(item) === name);
  if (whole.length > 0) return whole;
  const wanted = clipped(name);
  const exact = items.filter((item) => clipped(nameOf(item)) === wanted);
  if (exact.length > 0) return exact;
  return items.filter((item) => folded(nameOf(item)) === wanted.toLowerCase());
};

/** Names of our own are at most this long, so that no engine cuts them. */
const ownBytes = 60;

const short = (given: string): string => {
  if (plain.test(given)) return given;
  // MySQL has no characters beyond the first plane in names, and none that end with a blank.
  const name = given.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '_').trimEnd() || '?column?';
  const bytes = Buffer.from(name);
  if (bytes.length <= ownBytes) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  let end = ownBytes - hash.length - 1;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end)}_${hash}`;
};

/** `name`, or `name_2` and so on if it is `taken` without case; then it is taken too. */
export const uniqueName = (name: string, taken: Set<string>): string => {
  const base = short(name);
  let unique = base;
  for (let n = 2; taken.has(unique.toLowerCase()); n++) unique = `${base}_${n}`;
  taken.add(unique.toLowerCase());
  return unique;
};
