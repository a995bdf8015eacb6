/** The resources that others refer to. */
export type Referred =
  | 'llm_configuration'
  | 'tool_server'
  | 'data_connection'
  | 'semantic_data_model'
  | 'agent';

/** The resource that the ids in a field name. */
export interface Reference {
  to: Referred;
  /** The order of a list does not count. */
  isSet?: boolean;
  /**
   * The value is a list of objects: the key of the id in each, and the key of the name in a workspace document. An object
   * may have none.
   */
  inside?: { id: string; name: string };
}

/** The ids in the value of a field, or the names in that of a document, each with its path. */
export const referencesIn = (
  { to, inside }: Reference,
  path: string,
  value: unknown,
  by: 'id' | 'name',
): { path: string; to: Referred; text: string }[] => {
  const at = (one: unknown, where: string) => ({ path: where, to, text: String(one) });
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) return [at(value, path)];
  return value.flatMap((one, i) => {
    if (!inside) return [at(one, `${path}[${i}]`)];
    const text = one[inside[by]];
    return text === null || text === undefined ? [] : [at(text, `${path}[${i}].${inside[by]}`)];
  });
};
