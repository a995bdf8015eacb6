import { fingerprint, type SealedColumn, type Vault } from './crypto.ts';

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

const masked = (value: unknown): unknown => {
  if (value === null) return null;
  return typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([key, field]) => [key, masked(field)]))
    : fingerprint(String(value));
};

/**
 * The settings of a resource, of which some are secret: one discriminated union by kind, and one column `settings` of
 * JSON that the vault has sealed for its row. A further kind needs no column, and a new secret field is masked unless
 * it is named as plain.
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

  seal(id: string, settings: S): string {
    return this.#vault.seal(JSON.stringify(withoutUndefined(settings)), this.column.boundTo(id));
  }

  /** Throws if the vault has not the key, or if the value belongs to another row. */
  open({ id, settings }: { id: string; settings: string }): S {
    return JSON.parse(this.#vault.open(settings, this.column.boundTo(id))) as S;
  }

  /** The settings for the audit log: fields that may be secret as fingerprints, those of a map one by one. */
  masked(settings: Partial<S>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(withoutUndefined(settings)).map(([name, value]) => [
        name,
        this.#plain.has(name) ? value : masked(value),
      ]),
    );
  }
}
