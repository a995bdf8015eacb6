import type { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import { isSame } from '../../lib/differences.ts';
import {
  bodyOf,
  defaultsOf,
  Field,
  itemOf,
  namesIn,
  type Referred,
  type Shape,
} from '../../resource/index.ts';
import { clean } from '../paths.ts';
import type { Found, Item, Kind, NamesOf, Run } from './kind.ts';
import { changesOf, itself, readBody } from './read.ts';

/** A thing that the workspace has: its item, or the values of its fields by the names of a body. */
type Listed = Found | (Omit<Found, 'item'> & { values: object; more?: Item });

/** What a kind says besides its fields. */
interface Spec<C extends z.ZodType, P extends z.ZodType>
  extends Pick<Kind, 'kind' | 'key'>,
    Partial<Omit<Kind, 'kind' | 'key' | 'list' | 'read' | 'create' | 'update'>> {
  fields: Shape;
  /** The body that creates it over the API, and the one that changes it. */
  body: C;
  patch: P;
  list(executor: Executor, names: NamesOf): Promise<Listed[]>;
  /** What a document says, made of the body that it is. Throws ApiError for a body that its schema cannot refuse. */
  complete?(item: Item, body: z.output<C>, found: Found | undefined): Item;
  create(run: Run, body: z.output<C>, item: Item): Promise<{ id: string }>;
  update(run: Run, id: string, changes: z.output<P>, item: Item, found: Found): Promise<unknown>;
}

/**
 * The kind of a resource, as its fields say. A document is read by the schema of the body that creates; what differs
 * becomes the body of a change.
 */
export const resourceKind = <C extends z.ZodType, P extends z.ZodType>(spec: Spec<C, P>): Kind => {
  const { fields, body: schema, patch, list, complete, create, update, ...others } = spec;
  const secretFields = Object.keys(others.secrets ?? {}).map((path) => path.split('.')[0]!);
  const ids = (run: Run) => (to: Referred, name: string) => run.idOf(to, name);
  /** The names in lists of objects are as the document has them: the schema writes ids in small letters. */
  const asGiven = (given: Item): Item =>
    Object.fromEntries(
      Object.entries(bodyOf(fields, given, itself)).filter(([name, value]) => {
        const field = fields[name];
        return field instanceof Field && field.reference?.inside && Array.isArray(value);
      }),
    );
  return {
    secrets: {},
    defaults: defaultsOf(fields),
    nameOf: ({ name }) => String(name),
    references: (item) => namesIn(fields, item).map(({ path, to, text }) => ({ path, kind: to, name: text })),
    remove: async () => {},
    ...others,
    list: async (executor, names) => {
      const nameOf = (to: Referred, id: string) => names(to).get(id) ?? id;
      return (await list(executor, names)).map((one) => {
        if ('item' in one) return one;
        const { values, more, ...found } = one;
        return { ...found, item: { ...(clean(itemOf(fields, values, nameOf)) as Item), ...more } };
      });
    },
    read: (given, found) => {
      const body = readBody(schema, given, fields);
      const item = itemOf(fields, { ...(body as object), ...asGiven(given) }, itself);
      return clean(complete ? complete(item, body, found) : item) as Item;
    },
    create: async (run, item) => (await create(run, schema.parse(bodyOf(fields, item, ids(run))), item)).id,
    update: async (run, found, item, changed) => {
      // At another address, every secret is given again.
      const moved = others.address && !isSame(others.address(found.item), others.address(item));
      const again = moved ? secretFields.filter((field) => item[field] !== undefined) : [];
      const only = changesOf(new Set([...changed, ...again]), item);
      await update(run, found.id, patch.parse(bodyOf(fields, only, ids(run))), item, found);
    },
  };
};
