import { type ApiDocument, type Operation, operationsOf } from './api.ts';

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/**
 * The table of operations of the application: method, path and lowest role of each, and `key` if it takes an
 * `Idempotency-Key`; and the types of what goes in and comes out. `types` is what was generated from the same document. One
 * operation is one line: the build leaves out the lines that the application does not use.
 */
export const operationsTable = (document: ApiDocument, types: string): string => {
  const operations = operationsOf(document);
  const roleOf = ({ path, method }: Operation): string =>
    document.paths[path]![method.toLowerCase()]!['x-required-role'] ?? 'anyone';
  const replyOf = ({ id, stream, download }: Operation): string =>
    !stream && !download && types.includes(`export type ${capital(id)}Response =`)
      ? `types.${capital(id)}Response`
      : 'undefined';
  const rows = operations.map((operation) => {
    const { id, method, path, key } = operation;
    const row = [method, path, roleOf(operation), ...(key ? ['key'] : [])];
    return `  ${id}: [${row.map((text) => `'${text}'`).join(', ')}],`;
  });
  const shapes = operations.map(
    (operation) =>
      `  ${operation.id}: { data: types.${capital(operation.id)}Data; reply: ${replyOf(operation)} };`,
  );
  return `import type * as types from './types.gen.ts';

/** Method, path, lowest role, and \`key\` if the operation takes an \`Idempotency-Key\`. */
export const operations = {
${rows.join('\n')}
} as const;

/** The types of what each operation takes and returns. */
export interface Operations {
${shapes.join('\n')}
}
`;
};
