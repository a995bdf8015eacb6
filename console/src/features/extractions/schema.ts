/** A field of the form. `columns` are the keys of a list of records. */
export interface Field {
  key: string;
  kind: Kind;
  description: string;
  required: boolean;
  columns: string;
}

export type Kind = 'string' | 'date' | 'number' | 'integer' | 'boolean' | 'strings' | 'records';
type Json = Record<string, unknown>;

export const emptyField: Field = {
  key: '',
  kind: 'string',
  description: '',
  required: false,
  columns: '',
};

const field = (key: string, kind: Kind, more: Partial<Field> = {}): Field => ({
  ...emptyField,
  key,
  kind,
  ...more,
});

export const invoiceFields: readonly Field[] = [
  field('invoice_number', 'string', { required: true }),
  field('invoice_date', 'date'),
  field('supplier', 'string', { description: 'Who sent the invoice' }),
  field('total', 'number', { required: true, description: 'With taxes' }),
  field('currency', 'string'),
  field('line_items', 'records', { columns: 'description, quantity: number, price: number' }),
];

const scalarKinds = ['string', 'date', 'number', 'integer', 'boolean'] as const;
type ScalarKind = (typeof scalarKinds)[number];

const scalar = (kind: ScalarKind): Json =>
  kind === 'date' ? { type: 'string', format: 'date' } : { type: kind };

const object = (entries: readonly (readonly [string, Json])[], required: readonly string[] = []): Json => ({
  type: 'object',
  properties: Object.fromEntries(entries),
  ...(required.length > 0 && { required }),
});

/** `description, price: number` as properties. A type that is not known is text. */
const columnsOf = (columns: string): [string, Json][] =>
  columns.split(',').flatMap((part): [string, Json][] => {
    const [key = '', type = ''] = part.split(':').map((each) => each.trim());
    const kind = scalarKinds.find((each) => each === type) ?? 'string';
    return key === '' ? [] : [[key, scalar(kind)]];
  });

const typeOf = ({ kind, columns }: Field): Json => {
  if (kind === 'strings') return { type: 'array', items: scalar('string') };
  if (kind === 'records') return { type: 'array', items: object(columnsOf(columns)) };
  return scalar(kind);
};

/** The JSON Schema of fields. Those without a name are left out. */
export const schemaOf = (fields: readonly Field[]): Json => {
  const named = fields.filter(({ key }) => key.trim() !== '');
  return object(
    named.map((each) => {
      const description = each.description.trim();
      return [each.key.trim(), { ...typeOf(each), ...(description && { description }) }];
    }),
    named.filter(({ required }) => required).map(({ key }) => key.trim()),
  );
};

const kindOf = (schema: Json): Kind | null => {
  const { type, format, items } = schema;
  if (type === 'array') {
    const of = items as Json | undefined;
    return of?.type === 'object' ? 'records' : of?.type === 'string' ? 'strings' : null;
  }
  if (type === 'string' && format === 'date') return 'date';
  return scalarKinds.find((kind) => kind === type) ?? null;
};

const columnsText = (schema: Json): string =>
  Object.entries(((schema.items as Json).properties ?? {}) as Record<string, Json>)
    .map(([key, column]) => {
      const kind = kindOf(column);
      return kind === 'string' ? key : `${key}: ${kind}`;
    })
    .join(', ');

/** The fields of a schema; null if the form could not show all of it. */
export const fieldsOf = (schema: unknown): Field[] | null => {
  const { properties, required } = (schema ?? {}) as {
    properties?: Record<string, Json>;
    required?: unknown;
  };
  if (typeof properties !== 'object' || properties === null) return null;
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([key, each]): Field | null => {
    const kind = typeof each === 'object' && each !== null ? kindOf(each) : null;
    if (kind === null) return null;
    return field(key, kind, {
      description: typeof each.description === 'string' ? each.description : '',
      required: names.includes(key),
      columns: kind === 'records' ? columnsText(each) : '',
    });
  });
  const found = fields.filter((each) => each !== null);
  // The schema of the fields must equal the given one, or something would be lost in silence.
  return found.length === fields.length && same(schemaOf(found), schema) ? found : null;
};

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, each]) => [key, sorted(each)]),
        )
      : value;

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
