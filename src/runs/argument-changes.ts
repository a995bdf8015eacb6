import { sha256 } from '../lib/crypto.ts';
import { isObject } from '../lib/objects.ts';
import { rfc8785 } from '../lib/rfc8785.ts';
import { showPath } from '../lib/text.ts';

/** One value that differs; null stands for one that is not there. */
interface ArgumentChange {
  path: string;
  from: unknown;
  to: unknown;
}

/** Arguments of a call that a person decided on, as the audit log shows them. */
export interface DecidedArguments {
  /** SHA-256 (hex) of the canonical JSON (RFC 8785) of the arguments that were asked about. */
  asked_hash: string;
  /** Hash of the arguments that the call is made with; null if it is denied. */
  executed_hash: string | null;
  changes: ArgumentChange[];
}

/** The audit log keeps its entries for years: it is no place for documents that are passed to tools. */
const maxChanges = 100;
const maxText = 500;

/** Keys whose values are not shown: `password`, `client_secret`, `accessToken`, `apiKey`. */
const secretKey = /passw(or)?d|passphrase|pwd|secret|token|key|credential|authorization|cookie|signature/i;
const mask = '***';

interface Leaf {
  path: PropertyKey[];
  value: unknown;
}

/** The values of `value` that have no others inside, by their paths. */
const leavesOf = (value: unknown, path: PropertyKey[] = [], found = new Map<string, Leaf>()) => {
  const inside: [PropertyKey, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : [];
  if (inside.length === 0 && path.length > 0) found.set(JSON.stringify(path), { path, value });
  for (const [key, item] of inside) leavesOf(item, [...path, key], found);
  return found;
};

const shown = ({ path, value }: Leaf): unknown => {
  if (path.some((key) => typeof key === 'string' && secretKey.test(key))) return mask;
  if (typeof value !== 'string' || value.length <= maxText) return value;
  return `${value.slice(0, maxText).toWellFormed()}…`;
};

const changesOf = (asked: unknown, executed: unknown): ArgumentChange[] => {
  const before = leavesOf(asked);
  const after = leavesOf(executed);
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter((key) => {
    const [from, to] = [before.get(key), after.get(key)];
    return !from || !to || rfc8785(from.value) !== rfc8785(to.value);
  });
  const changes = differing.map((key) => {
    const [from, to] = [before.get(key), after.get(key)];
    return {
      path: showPath((from ?? to)!.path),
      from: from ? shown(from) : null,
      to: to ? shown(to) : null,
    };
  });
  // The database does not keep the order of keys.
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, maxChanges);
};

/**
 * Compares the arguments that a person was asked about with those that the call is made with; `executed` is null for a call
 * that was denied. Values of keys that name a secret are masked, and texts are cut.
 */
export const decidedArguments = (
  asked: Record<string, unknown>,
  executed: Record<string, unknown> | null,
): DecidedArguments => ({
  asked_hash: sha256(rfc8785(asked)),
  executed_hash: executed && sha256(rfc8785(executed)),
  changes: executed ? changesOf(asked, executed) : [],
});
