import type { Body, ChangeId } from '../api/index.ts';
import type { Field } from './fields.tsx';

type Loose = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the values of a table of fields differ.
type AnyField<V> = Field<any, V>;

/** The paths of a body: `configuration.tls.mode`. */
type PathsOf<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]-?: K | `${K}.${PathsOf<NonNullable<T[K]>> & string}` }[keyof T & string]
    : never;

/** The paths of the fields whose name is no path of the body, nor of its part `I`. null: it is not sent. */
type Others<V, P, I extends string> = {
  [K in keyof V & string as K extends P ? never : `${I}.${K}` extends P ? never : K]: P | null;
};

type PathsByName<V, P> = { [K in keyof V]?: P | null };

/** A table of `api/kinds.gen.ts`. */
type Kinds = Readonly<Record<string, { required: readonly string[]; optional: readonly string[] }>>;

/** The description from which the table of fields is made. */
interface Source<V, I extends string> {
  /** The labels, by the names of the fields. */
  words: object;
  /** Which kinds have which fields, and which of them are required. */
  kinds?: Kinds;
  kindOf?: (values: V) => string;
  /** The part of the body that has the fields of the kind. */
  inside?: I;
  /** Fields that stand next to each other. */
  rows?: readonly (readonly (keyof V & string)[])[];
  /** A change is sent as a whole, not as what differs. */
  whole?: boolean;
}

const valueAt = (thing: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (part as Loose | null | undefined)?.[key], thing);

const setAt = (body: Loose, path: string, value: unknown): void => {
  const [key, ...rest] = path.split('.') as [string, ...string[]];
  if (rest.length === 0) body[key] = value;
  else {
    body[key] ??= {};
    setAt(body[key] as Loose, rest.join('.'), value);
  }
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Makes of a table of fields what a form needs: its first values, those of a thing, the bodies that create and change the
 * thing, and the controls (`FormFields`). A field of a kind is there and required as the document of the API says.
 */
export const describeForm = <
  V extends object,
  T,
  C extends ChangeId,
  U extends ChangeId = C,
  I extends string = never,
>(
  source: Source<V, I> & { paths: Others<V, PathsOf<Body<C>>, I> & PathsByName<V, PathsOf<Body<C>>> },
  fields: { [K in keyof V]: Field<V[K], V> },
) => {
  const { words, kinds = {}, kindOf = () => '', inside, rows = [], whole = false } = source;
  const table = fields as unknown as Readonly<Record<string, AnyField<V>>>;
  const paths: Readonly<Record<string, string | null>> = source.paths;
  const names = Object.keys(table) as (keyof V & string)[];
  const ofKinds = new Set(
    Object.values(kinds).flatMap(({ required, optional }) => [...required, ...optional]),
  );
  const pathOf = (name: string): string | null => {
    const path = paths[name];
    if (path !== undefined) return path;
    return inside !== undefined && ofKinds.has(name) ? `${inside}.${name}` : name;
  };
  /** The name of a field in the table of kinds. */
  const nameInKind = (name: string): string => {
    const path = pathOf(name) ?? name;
    return inside !== undefined && path.startsWith(`${inside}.`) ? path.slice(inside.length + 1) : path;
  };
  const has = (name: string, values: V): boolean => {
    const [part] = nameInKind(name).split('.') as [string];
    const kind = kinds[kindOf(values)];
    if (kind && ofKinds.has(part) && !kind.required.includes(part) && !kind.optional.includes(part))
      return false;
    return table[name]!.when?.(values) ?? true;
  };
  const isRequired = (name: string, values: V): boolean => {
    const { required = kinds[kindOf(values)]?.required.includes(nameInKind(name)) ?? false } = table[name]!;
    return typeof required === 'function' ? required(values) : required;
  };
  const sent = (name: string, values: V): unknown => {
    const { send, sent, chosen } = table[name]!;
    if (chosen?.(values) === false) return null;
    const value = values[name as keyof V];
    return send ? send(value, values) : sent(value, isRequired(name, values));
  };
  const bodyOf = (values: V, takes: (name: string, value: unknown) => boolean): unknown => {
    const body: Loose = {};
    for (const name of names) {
      const path = pathOf(name);
      if (path === null || !has(name, values)) continue;
      const value = sent(name, values);
      if (value !== undefined && takes(name, value)) setAt(body, path, value);
    }
    return body;
  };
  const valuesOf = (value: (name: string, field: AnyField<V>) => unknown): V =>
    Object.fromEntries(names.map((name) => [name, value(name, table[name]!)])) as V;
  const toValues = (thing: T): V => {
    const read = (path: string) => valueAt(thing, path);
    return valuesOf((name, { read: readOwn, readAt }) =>
      readOwn ? readOwn(read) : readAt(read, pathOf(name) ?? name),
    );
  };
  // Which fields there are depends on the values: the API says which are missing.
  const toBody = (values: V) =>
    bodyOf(values, (name, value) => value !== null || table[name]!.sendsEmpty === true) as Body<C>;
  const toChanges = (values: V, before: V) =>
    bodyOf(
      values,
      (name, value) =>
        !table[name]!.fixed && (whole || !has(name, before) || !isSame(value, sent(name, before))),
    ) as Body<U>;
  /** The field that shows a fault. */
  const fieldOf = (path: string): string =>
    names.find((name) => pathOf(name) === path) ??
    (inside !== undefined && path.startsWith(`${inside}.`) ? path.slice(inside.length + 1) : path);
  const labelOf = (name: string): string => table[name]!.label ?? String(words[name as keyof typeof words]);
  const texts = names.flatMap((name) => {
    const { choices } = table[name]!;
    if (!choices) return [];
    const say = (value: unknown) =>
      choices.find((option) => option.value === value)?.label ?? String(value ?? '');
    return [[name, say]];
  });
  return {
    table,
    names,
    rows,
    has,
    isRequired,
    labelOf,
    /** For `useCreateForm`. */
    create: { first: valuesOf((_name, { first }) => first), toBody, fieldOf },
    /** For `useEditForm`. */
    edit: {
      toValues,
      toBody: toChanges,
      secrets: names.filter((name) => table[name]!.secret) as (keyof V)[],
      fieldOf,
    },
    /** For `EditForm`: what two versions are compared by. */
    compare: {
      labels: Object.fromEntries(names.map((name) => [name, labelOf(name)])),
      texts: Object.fromEntries(texts) as { [K in keyof V]?: (value: V[K]) => string },
    },
  };
};

export type FormDescription<V extends object> = Pick<
  ReturnType<typeof describeForm<V, unknown, ChangeId>>,
  'table' | 'names' | 'rows' | 'has' | 'isRequired' | 'labelOf'
>;
