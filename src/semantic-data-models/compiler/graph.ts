import type { Relationship, SemanticModel } from '../ossie.ts';
import { refused } from './faults.ts';

/** Relationships in order, each from the dataset that the one before leads to. */
export type Path = readonly Relationship[];

/** Paths are no longer than this, and no more of them are looked at. */
const longest = 20;
const most = 200;

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The joins of datasets: along relationships, always from the many to the one, so that no row is counted twice. */
export class Graph {
  readonly #from = new Map<string, Relationship[]>();
  readonly #reach = new Map<string, ReadonlySet<string>>();
  readonly relationships: readonly Relationship[];
  readonly datasets: readonly string[];

  constructor({ datasets, relationships = [] }: SemanticModel) {
    this.relationships = relationships;
    this.datasets = datasets.map(({ name }) => name.toLowerCase());
    for (const relationship of relationships) {
      const from = relationship.from.toLowerCase();
      this.#from.set(from, [...(this.#from.get(from) ?? []), relationship]);
    }
  }

  /** The datasets that `base` reaches, itself too, in small letters. */
  reach(base: string): ReadonlySet<string> {
    const start = base.toLowerCase();
    let found = this.#reach.get(start);
    if (!found) {
      const all = new Set([start]);
      for (const at of all) for (const { to } of this.#from.get(at) ?? []) all.add(to.toLowerCase());
      found = all;
      this.#reach.set(start, found);
    }
    return found;
  }

  /**
   * The paths from `base` to `to` that contain the relationships `via` in this order. No dataset is passed twice, except
   * by a relationship of `via`: so a dataset can be joined to itself.
   */
  paths(base: string, to: string, via: readonly string[]): Path[] {
    const wanted = via.map((name) => name.toLowerCase());
    const found: Path[] = [];
    let steps = 0;
    const walk = (at: string, path: Relationship[], passed: readonly string[]): void => {
      if (found.length >= most || ++steps > 10_000) return;
      if (same(at, to) && containsInOrder(path, wanted)) found.push(path);
      if (path.length === longest) return;
      for (const next of this.#from.get(at.toLowerCase()) ?? []) {
        const name = next.name.toLowerCase();
        if (path.includes(next) || (passed.includes(next.to.toLowerCase()) && !wanted.includes(name)))
          continue;
        // A dataset that cannot lead there any more is not walked.
        if (!this.reach(next.to).has(to.toLowerCase())) continue;
        walk(next.to, [...path, next], [...passed, next.to.toLowerCase()]);
      }
    };
    walk(base, [], [base.toLowerCase()]);
    return found;
  }

  /**
   * The one path from `base` to the dataset of a field. Throws 422: `unreachable` if there is none, `ambiguous_path` if
   * there are several.
   */
  path(
    base: string,
    to: string,
    via: readonly string[],
    { path, field, metric }: { path: string; field: string; metric: string | null },
  ): Path {
    const paths = this.paths(base, to, via);
    const [first, second] = paths;
    if (!first) {
      const by = via.length > 0 ? ` by ${via.join(', ')}` : '';
      const of = metric === null ? '' : ` for \`${metric}\``;
      throw refused(path, `\`${field}\` cannot be reached from \`${base}\`${by}${of}`, {
        reason: 'unreachable',
        field,
        metric,
      });
    }
    if (second) throw ambiguous(path, `\`${field}\` can be reached from \`${base}\` in several ways`, paths);
    return first;
  }

  /**
   * The dataset that all `datasets` are reached from, and that every other such dataset reaches: its rows are the most
   * detailed that are needed. Null if there is none, or several.
   */
  base(datasets: readonly string[]): string | null {
    const wanted = [...new Set(datasets.map((name) => name.toLowerCase()))];
    if (wanted.length === 1) return wanted[0]!;
    const candidates = this.datasets.filter((name) => wanted.every((each) => this.reach(name).has(each)));
    const nearest = candidates.filter((name) => candidates.every((other) => this.reach(other).has(name)));
    const named = nearest.filter((name) => wanted.includes(name));
    const best = named.length > 0 ? named : nearest;
    return best.length === 1 ? best[0]! : null;
  }
}

const containsInOrder = (path: Path, via: readonly string[]): boolean => {
  let at = 0;
  for (const { name } of path) if (name.toLowerCase() === via[at]) at++;
  return at === via.length;
};

export const ambiguous = (path: string, message: string, paths: readonly Path[]) =>
  refused(path, `${message}; name relationships in \`via\``, {
    reason: 'ambiguous_path',
    candidates: paths.slice(0, 20).map((each) => each.map(({ name }) => name)),
  });
