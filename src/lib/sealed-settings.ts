import { fingerprint, type SealedColumn, type Vault } from './crypto.ts';
import { withoutUndefined } from './objects.ts';

const masked = (value: unknown): unknown => {
  if (value === null) return null;
  return typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([key, field]) => [key, masked(field)]))
    : fingerprint(String(value));
};

/**
 * The settings of a resource, some of them secret: a discriminated union by kind, in one column `settings` of JSON that
 * the vault seals for its row. Another kind needs no new column, and a new field is masked unless it is listed as
 * plain.
 */
export class SealedSettings<S extends object> {
  readonly column: SealedColumn;
  readonly #vault: Vault;
  readonly #plain: ReadonlySet<string>;

  /** `plain`: the fields that are not secret. */
  constructor(vault: Vault, table: string, plain: readonly string[]) {
    this.#vault = vault;
    this.#plain = new Set(plain);
    this.column = { table, column: 'settings', boundTo: (id) => `${table}:${id}:settings` };
  }

  /** Encrypts the settings of the row `id`. */
  seal(id: string, settings: S): string {
    return this.#vault.seal(JSON.stringify(withoutUndefined(settings)), this.column.boundTo(id));
  }

  /** Decrypts the settings. Throws if the vault does not have the key, or if the value belongs to another row. */
  open({ id, settings }: { id: string; settings: string }): S {
    return JSON.parse(this.#vault.open(settings, this.column.boundTo(id))) as S;
  }

  /** The settings for the audit log: every field that is not plain is a fingerprint, in a map each value. */
  masked(settings: Partial<S>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(withoutUndefined(settings)).map(([name, value]) => [
        name,
        this.#plain.has(name) ? value : masked(value),
      ]),
    );
  }
}
