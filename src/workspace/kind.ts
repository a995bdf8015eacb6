import type { Executor, Tx } from '../database/index.ts';
import type { Fault } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import type { Settings } from '../settings/index.ts';
import type { DocumentKey } from './document.ts';
import type { Path } from './paths.ts';

/** A thing as a document writes it, with every field. Its secrets are in clear, so it never leaves this process. */
export type Item = Record<string, unknown>;

export const kindNames = [
  'settings',
  'branding',
  'default_llm',
  'llm_configuration',
  'price',
  'tool_server',
  'data_connection',
  'event_connection',
  'semantic_data_model',
  'dataset',
  'agent',
  'schedule',
  'trigger',
  'budget',
  'integration',
  'alert_rule',
  'channel',
  'route',
  'role_mapping',
  'document_intelligence',
] as const;
export type KindName = (typeof kindNames)[number];

export interface Found {
  id: string;
  name: string;
  item: Item;
  /** It came with the installation, or is history: nothing deletes it. */
  builtIn?: boolean;
  /** The key of a schedule is stored, and does not follow from the others. */
  keyIsStored?: boolean;
}

/** A thing that an item needs, by name. */
interface Reference {
  /** In the item. */
  path: string;
  kind: KindName;
  name: string;
  /** The thing may be deleted, and the reference goes with it. */
  weak?: boolean;
}

/** An application in progress. In a plan all of it is rolled back. */
export interface Run {
  tx: Tx;
  actor: Actor;
  /** The id of a thing. Throws Unavailable if it could not be made. */
  idOf(kind: KindName, name: string): string;
  leaving(): number;
  /** Runs `check` at the end of the transaction. */
  atEnd(check: () => Promise<void>): void;
  /** Runs `fn` after the transaction, once for each `key`. */
  afterwards(key: string, fn: () => unknown): void;
}

/** A thing that another one needs was not made, because of a fault that is reported there. */
export class Unavailable extends Error {}

/** The names of all things of a kind, by their ids. */
export type NamesOf = (kind: KindName) => ReadonlyMap<string, string>;

/** One kind of things in a document, and the rules by which they are changed: those of the API. */
export interface Kind {
  kind: KindName;
  key: DocumentKey;
  /** The document has one of it, not a list; `named`: only the fields that it names change. */
  single?: boolean;
  /** Patterns of the paths of secrets: `*` stands for any key. */
  secrets: readonly string[];
  /** Returns whether what is a secret of some items is none of this one, so that it is shown. */
  isPlain?(item: Item, path: Path): boolean;
  /** An export leaves these fields out if they have these values. */
  defaults: Item;
  /** The fields that are unique together; default: `name`. */
  namedBy?: readonly string[];
  nameOf(item: Item): string;
  /** Returns those fields of what a document has, in one form; default: as they are. */
  identify?(given: Item): Item;
  /** In the order of their creation. `names`: those of a kind before this one, by id. */
  list(executor: Executor, names: NamesOf): Promise<Found[]>;
  /** Returns the item as an export writes it; its secrets are references already. */
  toDocument?(item: Item): unknown;
  /**
   * Returns the item of a document, with defaults and without secrets unresolved. Throws ApiError with `details` relative
   * to the item.
   */
  read(given: Item, found: Found | undefined): Item;
  /** The stored value of the secret at `path` of `given`; default: that at the same path. */
  storedSecret?(found: Found, given: Item, path: readonly (string | number)[]): unknown;
  /** The place to which secrets are sent. If it changes they must be given again. */
  address?(item: Item): unknown;
  references(item: Item): Reference[];
  /** Returns the faults that depend on the settings, as they will be. */
  check?(item: Item, settings: Settings): Fault[];
  /** Items with a smaller number are made first, and deleted last; default: all alike. */
  order?(item: Item): number;
  /** Tries an item, without a transaction, because that may speak to another system. Throws 422. */
  verify?(item: Item): Promise<unknown>;
  create(run: Run, item: Item): Promise<string>;
  /** `changed`: the fields of the item that differ. */
  update(run: Run, found: Found, item: Item, changed: ReadonlySet<string>): Promise<void>;
  remove(run: Run, found: Found): Promise<void>;
}
