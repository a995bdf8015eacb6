import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { importTool, makeFolder } from './needs.ts';
import { documents, typesAreCurrent, typesFile, typesHeader } from './state.ts';

interface Document {
  openapi: string;
  info: unknown;
  paths: Record<string, unknown>;
  components: { schemas: Record<string, unknown> };
}

/**
 * Joins the documents into one, whose paths begin with their bases: a type then has the whole path of its operation.
 * Throws if two schemas with one name differ.
 */
const joinDocuments = (root: string): Document => {
  const joined: Document = { openapi: '3.1.0', info: null, paths: {}, components: { schemas: {} } };
  for (const [base, file] of Object.entries(documents)) {
    const document = JSON.parse(readFileSync(join(root, file), 'utf8')) as Document;
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

/** Writes the types of both documents, without any code, unless they are current. */
export const generateTypes = async (root: string): Promise<void> => {
  if (typesAreCurrent(root)) return;
  const { createClient } = await importTool('@hey-api/openapi-ts', import('@hey-api/openapi-ts'));
  const header = typesHeader(root);
  const file = join(root, typesFile);
  const folder = makeFolder(join(root, 'console'));
  try {
    await createClient({
      input: joinDocuments(root) as unknown as Record<string, unknown>,
      output: { path: folder, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    const generated = join(folder, 'types.gen.ts');
    writeFileSync(generated, `${header}\n${readFileSync(generated, 'utf8')}`);
    mkdirSync(dirname(file), { recursive: true });
    renameSync(generated, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
