import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ApiDocument } from './api.ts';
import { kindsTable } from './kinds.ts';
import { importTool, makeFolder } from './needs.ts';
import { operationsTable } from './operations.ts';
import { documents, generatedFiles, typesAreCurrent, typesHeader } from './state.ts';

/**
 * Joins the documents into one, whose paths begin with their bases: a type then has the whole path of its operation.
 * Throws if two schemas with one name differ.
 */
const joinDocuments = (root: string): ApiDocument => {
  const joined: ApiDocument = { openapi: '3.1.0', info: null, paths: {}, components: { schemas: {} } };
  for (const [base, file] of Object.entries(documents)) {
    const document = JSON.parse(readFileSync(join(root, file), 'utf8')) as ApiDocument;
    joined.info ??= document.info;
    for (const [path, item] of Object.entries(document.paths)) joined.paths[base + path] = item;
    const { schemas } = joined.components;
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) {
        throw new Error(
          `${file}: the schema ${name} is another one elsewhere. Give one of them another name.`,
        );
      }
      schemas[name] = schema;
    }
  }
  return joined;
};

/** Writes the types of both documents and the tables of their operations and kinds, unless they are current. */
export const generateTypes = async (root: string): Promise<void> => {
  if (typesAreCurrent(root)) return;
  const { createClient } = await importTool('@hey-api/openapi-ts', import('@hey-api/openapi-ts'));
  const header = typesHeader(root);
  const document = joinDocuments(root);
  const folder = makeFolder(join(root, 'console'));
  try {
    await createClient({
      input: document as unknown as Record<string, unknown>,
      output: { path: folder, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    const types = readFileSync(join(folder, 'types.gen.ts'), 'utf8');
    const contents = [types, operationsTable(document, types), kindsTable(document)];
    for (const [index, file] of generatedFiles.entries()) {
      const made = join(folder, 'made.ts');
      writeFileSync(made, `${header}\n${contents[index]}`);
      mkdirSync(dirname(join(root, file)), { recursive: true });
      renameSync(made, join(root, file));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
