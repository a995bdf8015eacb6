import type { SchemaNode } from './schema.ts';

/**
 * The schema as models get it: every key required, every value nullable, nothing else allowed, and no keyword that
 * some provider refuses. Providers that hold models to a schema demand this form.
 */
export const printSchema = (node: SchemaNode): Record<string, unknown> => {
  const { title, description } = node;
  const described = { ...(title !== null && { title }), ...(description !== null && { description }) };
  if (node.kind === 'array') return { type: ['array', 'null'], items: printSchema(node.items), ...described };
  if (node.kind === 'object') {
    return {
      type: 'object',
      properties: Object.fromEntries(
        node.properties.map(([name, property]) => [name, printSchema(property)]),
      ),
      required: node.properties.map(([name]) => name),
      additionalProperties: false,
      ...described,
    };
  }
  const format =
    node.format === null
      ? {}
      : { description: [description, `Format: ${node.format}.`].filter(Boolean).join(' ') };
  const allowed = node.enum && { enum: [...new Set([...node.enum, null])] };
  return { type: [node.type, 'null'], ...described, ...format, ...allowed };
};
