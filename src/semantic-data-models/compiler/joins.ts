import { build, type Expression, type From } from '@agent-platform/sql';
import type { Path } from './graph.ts';
import { keyColumn, type Model } from './model.ts';

/** The tables that one base is joined to. Each way to a dataset has an alias of its own. */
export class Joins {
  readonly #model: Model;
  readonly base: string;
  /** Aliases by the relationships that lead there; the base itself is at the empty path. */
  readonly #aliases = new Map<string, string>();
  readonly #taken = new Set<string>();
  #from: From;

  constructor(model: Model, base: string) {
    this.#model = model;
    this.base = base;
    const { name } = model.dataset(base)!;
    const alias = this.#name(name);
    this.#aliases.set('', alias);
    this.#from = { kind: 'table', name, alias };
  }

  get from(): From {
    return this.#from;
  }

  #name(dataset: string): string {
    let alias = dataset;
    for (let n = 2; this.#taken.has(alias.toLowerCase()); n++) alias = `${dataset}_${n}`;
    this.#taken.add(alias.toLowerCase());
    return alias;
  }

  /** The alias at the end of a path. What is on the way is joined too, once. */
  #alias(path: Path): string {
    const key = path.map(({ name }) => name.toLowerCase()).join('.');
    const known = this.#aliases.get(key);
    if (known !== undefined) return known;
    const last = path.at(-1)!;
    const before = this.#alias(path.slice(0, -1));
    const { name } = this.#model.dataset(last.to)!;
    const alias = this.#name(name);
    this.#aliases.set(key, alias);
    const conditions = last.from_columns.map((column, i) =>
      build.compare(
        build.column(before, keyColumn(column)),
        '=',
        build.column(alias, keyColumn(last.to_columns[i]!)),
      ),
    );
    this.#from = {
      kind: 'join',
      // A row of the base stays if there is nothing to join to it.
      type: 'left',
      left: this.#from,
      right: { kind: 'table', name, alias },
      on: build.allOf(conditions)!,
    };
    return alias;
  }

  /** The column of a field at the end of a path. */
  column(path: Path, field: string): Expression {
    return build.column(this.#alias(path), field);
  }
}
