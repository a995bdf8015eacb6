import { isObject } from '../lib/objects.ts';

/** The resources that others refer to. */
export type Referred =
  | 'llm_configuration'
  | 'tool_server'
  | 'data_connection'
  | 'semantic_data_model'
  | 'dataset'
  | 'agent';

/** The resource that ids in a field name. */
export interface Reference {
  to: Referred;
  /** The order of a list does not count. */
  isSet?: boolean;
  /**
   * The value is an object or a list of objects: the key of the id in each, and the key of the name in a workspace document.
   * An object may have none.
   */
  inside?: { id: string; name: string };
  /** The value is an object, and the references are in what it has at this key. */
  at?: string;
}

/** The ids in the value of a field, or the names in that of a document, each with its path. */
export const referencesIn = (
  { at: key, ...reference }: Reference,
  path: string,
  value: unknown,
  by: 'id' | 'name',
): { path: string; to: Referred; text: string }[] => {
  const { to, inside } = reference;
  const at = (one: unknown, where: string) => {
    if (!inside) return [{ path: where, to, text: String(one) }];
    const text = isObject(one) ? one[inside[by]] : undefined;
    return text === null || text === undefined
      ? []
      : [{ path: `${where}.${inside[by]}`, to, text: String(text) }];
  };
  if (value === null || value === undefined) return [];
  if (key !== undefined) {
    return isObject(value) ? referencesIn(reference, `${path}.${key}`, value[key], by) : [];
  }
  if (!Array.isArray(value)) return at(value, path);
  return value.flatMap((one, i) => at(one, `${path}[${i}]`));
};
