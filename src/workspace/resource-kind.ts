import type { z } from 'zod';
import type { Executor, Tx } from '../database/index.ts';
import { isSame } from '../lib/differences.ts';
import { unprocessable } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { bodyOf, defaultsOf, Field, itemOf, namesIn, type Referred, type Shape } from '../resource/index.ts';
import { changesOf, itself, readBody } from './bodies.ts';
import { requireAll } from './faults.ts';
import type { Found, Item, Kind, NamesOf, Run } from './kind.ts';
import { clean, withoutEmptyMaps } from './paths.ts';

/** A field of an item that its body does not have: operations of its own change it. */
interface Part {
  name: string;
  read(given: unknown): unknown;
  /** The stored value as an item has it. */
  fromStored(stored: unknown, names: NamesOf): unknown;
  write(run: Run, id: string, value: unknown): Promise<void>;
}

/** A thing with the values of its fields, by the names of a body. */
interface Listed extends Omit<Found, 'name' | 'item'> {
  values: Item;
}

/** A kind, besides what follows from its fields. */
interface Spec<C extends z.ZodType, P extends z.ZodType>
  extends Pick<Kind, 'kind' | 'key'>,
    Partial<Omit<Kind, 'kind' | 'key' | 'list' | 'read' | 'create' | 'update'>> {
  fields: Shape;
  /** The body that creates it over the API. */
  body: C;
  /** The body that changes it; undefined: a change replaces the whole by `body`. */
  patch?: P;
  list(executor: Executor, names: NamesOf): Promise<Listed[]>;
  /** Fills in what `given` leaves out and only the workspace knows. */
  prepare?(given: Item, found: Found | undefined): Item;
  /** Returns the item of a body, of which `item` has the fields. Throws 422 for a body that its schema cannot refuse. */
  complete?(item: Item, body: z.output<C>, found: Found | undefined): Item;
  /** Throws faults that the schema cannot have. */
  checkGiven?(given: Item): void;
  part?: Part;
  create(run: Run, body: z.output<C>, item: Item): Promise<{ id: string }>;
  update(
    run: Run,
    id: string,
    changes: z.output<P>,
    item: Item,
    changed: ReadonlySet<string>,
  ): Promise<unknown>;
  afterwards?(run: Run, id: string): void;
}

/** A feature with one resource. */
interface ResourceFeature<B, C> {
  /** The bodies that would create what there is, with ids. */
  list(executor: Executor): Promise<readonly { id: string }[]>;
  create(tx: Tx, actor: Actor, body: B, leaving: number): Promise<{ id: string }>;
  update(tx: Tx, actor: Actor, id: string, changes: C): Promise<unknown>;
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
}

/** Lists and changes things by the methods of their feature. */
export const byFeature = <B, C>(feature: ResourceFeature<B, C>) => ({
  list: async (executor: Executor): Promise<Listed[]> =>
    (await feature.list(executor)).map(({ id, ...values }) => ({ id, values })),
  create: (run: Run, body: B) => feature.create(run.tx, run.actor, body, run.leaving()),
  update: ({ tx, actor }: Run, id: string, changes: C) => feature.update(tx, actor, id, changes),
  remove: ({ tx, actor }: Run, { id }: Found) => feature.delete(tx, actor, id),
});

/** Throws 422 if the item has another value than the workspace in a field that never changes. */
const checkFixed = (fields: Shape, item: Item, found: Found | undefined): void => {
  const faults = Object.entries(fields).flatMap(([name, field]) => {
    const path = (field instanceof Field && field.isFixed && field.as) || name;
    const isOther = found && field instanceof Field && field.isFixed && item[path] !== found.item[path];
    return isOther ? [{ path, message: `cannot be changed; it is ${found.item[path]}` }] : [];
  });
  if (faults.length > 0) throw unprocessable(faults);
};

/**
 * The kind of a resource, as its fields say. A document is read by the schema of the body that creates; what differs
 * becomes the body of a change.
 */
export const resourceKind = <C extends z.ZodType, P extends z.ZodType = C>(spec: Spec<C, P>): Kind => {
  const { fields, body: schema, patch, list, prepare, complete, checkGiven, part, ...others } = spec;
  const { nameOf = ({ name }: Item) => String(name) } = spec;
  const secretFields = (others.secrets ?? []).map((path) => path.split('.')[0]!);
  const ids = (run: Run) => (to: Referred, name: string) => run.idOf(to, name);
  /** The names in lists of objects are as the document has them: the schema writes ids in small letters. */
  const asGiven = (given: Item): Item =>
    Object.fromEntries(
      Object.entries(bodyOf(fields, given, itself)).filter(([name, value]) => {
        const field = fields[name];
        return (
          field instanceof Field && field.references.some(({ inside }) => inside) && Array.isArray(value)
        );
      }),
    );
  const normalized = (item: Item): Item => clean(withoutEmptyMaps(item)) as Item;
  return {
    secrets: [],
    defaults: defaultsOf(fields),
    nameOf,
    references: (item) => namesIn(fields, item).map(({ path, to, text }) => ({ path, kind: to, name: text })),
    ...others,
    list: async (executor, names) => {
      const named = (to: Referred, id: string) => names(to).get(id) ?? id;
      return (await list(executor, names)).map(({ values, ...found }) => {
        const { [part?.name ?? '']: stored, ...body } = values;
        const own = itemOf(fields, body, named);
        const whole = complete ? complete(own, body as z.output<C>, undefined) : own;
        const item = normalized(part ? { ...whole, [part.name]: part.fromStored(stored, names) } : whole);
        return { ...found, name: nameOf(item), item };
      });
    },
    read: (given, found) => {
      const { [part?.name ?? '']: ofPart, ...rest } = prepare ? prepare(given, found) : given;
      let item: Item = {};
      let value: unknown;
      requireAll(
        () => {
          const body = readBody(schema, rest, fields);
          item = itemOf(fields, { ...(body as object), ...asGiven(rest) }, itself);
          if (complete) item = complete(item, body, found);
        },
        () => checkGiven?.(given),
        () => {
          value = part?.read(ofPart);
        },
      );
      checkFixed(fields, item, found);
      return normalized(part ? { ...item, [part.name]: value } : item);
    },
    create: async (run, item) => {
      const { id } = await spec.create(run, schema.parse(bodyOf(fields, item, ids(run))), item);
      await part?.write(run, id, item[part.name]);
      spec.afterwards?.(run, id);
      return id;
    },
    update: async (run, found, item, changed) => {
      // At another address, every secret is given again.
      const moved = others.address && !isSame(others.address(found.item), others.address(item));
      const again = moved ? secretFields.filter((field) => item[field] !== undefined) : [];
      const isOfPart = part !== undefined && changed.has(part.name);
      const own = [...changed].filter((field) => field !== part?.name);
      if (own.length > 0) {
        const after = patch ? changesOf(new Set([...own, ...again]), item) : item;
        const changes = (patch ?? schema).parse(bodyOf(fields, after, ids(run))) as z.output<P>;
        await spec.update(run, found.id, changes, item, changed);
      }
      if (isOfPart) await part.write(run, found.id, item[part.name]);
      spec.afterwards?.(run, found.id);
    },
    remove: async (run, found) => {
      await spec.remove?.(run, found);
      spec.afterwards?.(run, found.id);
    },
  };
};
