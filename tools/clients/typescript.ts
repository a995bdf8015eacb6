import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import type { ApiDocument, Operation } from '../console/api.ts';

/** The document without refusals: the client throws them, all of one class. */
const successes = (document: ApiDocument): ApiDocument => {
  const copy = structuredClone(document);
  for (const methods of Object.values(copy.paths))
    for (const operation of Object.values(methods))
      operation.responses = Object.fromEntries(
        Object.entries(operation.responses).filter(([status]) => status.startsWith('2')),
      );
  return copy;
};

/** The types of all operations and schemas. */
export const typescriptTypes = async (document: ApiDocument): Promise<string> => {
  const path = mkdtempSync(join(tmpdir(), 'clients-'));
  try {
    await createClient({
      input: successes(document) as unknown as Record<string, unknown>,
      output: { path, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    return readFileSync(join(path, 'types.gen.ts'), 'utf8');
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
};

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/** What the client knows of each operation when it runs, and the types of what goes in and comes out. */
export const typescriptOperations = (operations: Operation[]): string => {
  const hasType = ({ returns, stream, download }: Operation) => returns && !stream && !download;
  const names = operations.flatMap((operation) => {
    const name = capital(operation.id);
    return hasType(operation) ? [`${name}Data`, `${name}Response`] : [`${name}Data`];
  });
  const table = operations.map(({ id, method, path, ...flags }) => {
    const set = (['key', 'stream', 'download'] as const).filter((flag) => flags[flag]);
    return `  ${id}: { method: '${method}', path: '${path}'${set.map((flag) => `, ${flag}: true`).join('')} },`;
  });
  const types = operations.map((operation) => {
    const { id, summary, stream, download } = operation;
    const output = hasType(operation) ? `${capital(id)}Response` : download ? 'Blob' : 'undefined';
    const flag = stream ? '; stream: true' : '';
    return `  /** ${summary}. */\n  ${id}: { input: ${capital(id)}Data; output: ${output}${flag} };`;
  });
  return `import type {
${names.map((name) => `  ${name},`).join('\n')}
} from './types.gen.ts';

/**
 * Method and path. \`key\`: it takes an \`Idempotency-Key\`. \`stream\`: it returns a stream of events. \`download\`: it
 * returns the bytes of a file.
 */
export const operations = {
${table.join('\n')}
} as const;

export interface Operations {
${types.join('\n')}
}
`;
};
