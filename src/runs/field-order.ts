import { isObject } from '../lib/objects.ts';
import type { PendingApproval } from './types.ts';

/**
 * People see the fields of a form in the order of its author. jsonb changes that order, so a list of the names is
 * stored with the schema.
 */

type OfSchema = Pick<PendingApproval, 'input_schema' | 'fields'>;

/** `approval` as it is stored: with the names of its fields in their order. */
export const withFields = <T extends OfSchema>(approval: T): T => {
  const properties = approval.input_schema?.properties;
  return isObject(properties) ? { ...approval, fields: Object.keys(properties) } : approval;
};

/** `approval` as it was before `withFields`. What is stored without names, as by the release before, does not change. */
export const inOrderOfFields = <T extends OfSchema>({ fields, ...approval }: T): Omit<T, 'fields'> => {
  const { input_schema } = approval;
  const properties = input_schema?.properties;
  if (!fields || !isObject(properties)) return approval;
  const ordered = fields
    .filter((name) => Object.hasOwn(properties, name))
    .map((name) => [name, properties[name]] as const);
  return {
    ...approval,
    // The other names keep their places after these.
    input_schema: { ...input_schema, properties: { ...Object.fromEntries(ordered), ...properties } },
  };
};
