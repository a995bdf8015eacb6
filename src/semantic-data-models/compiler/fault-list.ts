import { SqlRefusal } from '@agent-platform/sql';
import { ApiError, type Fault } from '../../lib/errors.ts';
import { mostFaults } from '../../lib/text.ts';
import type { Issue } from '../issues.ts';
import { UnknownNames } from './names.ts';

const isWithin = (path: string, outer: string): boolean =>
  path === outer || (path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length)));

/** The faults of a document, as they are found. */
export class FaultList {
  /** Faults of the form. What is inside of such a part, or around it, is not reported again. */
  readonly #known: readonly Issue[];
  readonly #faults: Issue[] = [];

  constructor(known: readonly Issue[]) {
    this.#known = known;
  }

  /** All of them, those of the form first; at most 100. */
  get all(): Issue[] {
    return [...this.#known, ...this.#faults].slice(0, mostFaults);
  }

  add(path: string, code: string, message: string, suggestions: readonly string[] = []): void {
    if (this.#known.some((one) => isWithin(path, one.path) || isWithin(one.path, path))) return;
    this.#faults.push({ severity: 'error', code, path, message, suggestions: [...suggestions] });
  }

  get isFull(): boolean {
    return this.#known.length + this.#faults.length >= mostFaults;
  }

  /** Returns false if `check` is refused. `pathOf` returns the path for a refusal below `query` or `sql`. */
  try(pathOf: (path: string) => string, check: () => unknown, hidden: readonly string[] = []): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if (error instanceof SqlRefusal) {
        this.add(pathOf(''), error.reason, error.message, error.details.suggestions);
        return false;
      }
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      const { details, reason, suggestions } = error.context as {
        details?: Fault[];
        reason?: string;
        suggestions?: string[];
      };
      const code = reason ?? 'static_rule';
      if (hidden.includes(code)) return false;
      if (error instanceof UnknownNames)
        for (const each of error.names)
          this.add(pathOf(each.path), each.reason, each.message, each.suggestions);
      else
        for (const each of details ?? [{ path: '', message: error.message }])
          this.add(pathOf(each.path), code, each.message, suggestions);
      return false;
    }
  }

  /** Gives what has the name of another one a name that no one can write, after it was reported. */
  unique<T extends { name: string }>(items: readonly T[], pathOf: (i: number) => string): T[] {
    const seen = new Set<string>();
    return items.map((item, i) => {
      const key = item.name.toLowerCase();
      if (!seen.has(key)) {
        seen.add(key);
        return item;
      }
      this.add(pathOf(i), 'duplicate_name', `\`${item.name}\` is the name of another one`);
      return { ...item, name: `${item.name}:${i}` };
    });
  }
}
