import { parseAllDocuments } from 'yaml';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import type { CustomExtension, SemanticModel } from './ossie.ts';
import type { SemanticDataModelRow, VerifiedQuery } from './store.ts';

/** The version of Ossie that is written. Any 0.x is read. */
const version = '0.2.0.dev0';

const vendor = 'AGENT_PLATFORM';

/** The model in an Ossie document, and the verified queries that an export put into it. */
export interface Imported {
  semantic_model: unknown;
  verified_queries: unknown[];
}

const fault = (path: string, message: string): never => {
  throw unprocessable([{ path, message } satisfies Fault]);
};

/** YAML 1.2 or JSON, which is part of it. Without aliases: a few of them can stand for any amount of text. */
const parse = (text: string): unknown => {
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    documents = parseAllDocuments(text, { version: '1.2', schema: 'core', uniqueKeys: true, merge: false });
  } catch {
    return fault('document', 'is neither YAML nor JSON');
  }
  const [only, ...others] = Array.isArray(documents) ? documents : [];
  if (!only) return fault('document', 'is empty');
  if (others.length > 0) return fault('document', 'has several YAML documents');
  const [error] = only.errors;
  if (error) {
    const line = error.linePos?.[0].line;
    return fault('document', `is neither YAML nor JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
  try {
    return only.toJS({ maxAliasCount: 0 });
  } catch {
    return fault('document', 'has aliases, which are not supported');
  }
};

/** The queries in an extension of ours, and the extensions of others. Throws 422 for one that cannot be read. */
const takeOut = (extensions: readonly CustomExtension[]) => {
  const own = extensions.filter(({ vendor_name }) => vendor_name === vendor);
  const verified = own.flatMap(({ data }): unknown[] => {
    try {
      const { verified_queries } = JSON.parse(data);
      if (Array.isArray(verified_queries)) return verified_queries;
    } catch {
      // Not ours after all.
    }
    return fault('document', `the custom extension ${vendor} cannot be read`);
  });
  return { verified, others: extensions.filter(({ vendor_name }) => vendor_name !== vendor) };
};

/** Reads an Ossie document with one model. Throws 422. The model itself is not checked yet. */
export const readDocument = (text: string): Imported => {
  const document = parse(text);
  if (!isObject(document)) return fault('document', 'must be an object with version and semantic_model');
  const { version: given, semantic_model: models } = document;
  if (typeof given !== 'string' || !/^0\.\d/.test(given)) {
    return fault('document', 'must have a version 0.x of Ossie');
  }
  if (!Array.isArray(models) || models.length === 0) {
    return fault('document', 'must have a list semantic_model with one model');
  }
  if (models.length > 1) {
    return fault('document', `has ${models.length} models; import them one by one`);
  }
  const [model] = models as unknown[];
  if (!isObject(model) || !Array.isArray(model.custom_extensions)) {
    return { semantic_model: model, verified_queries: [] };
  }
  const { custom_extensions, ...rest } = model;
  const { verified, others } = takeOut(custom_extensions.filter(isObject) as unknown as CustomExtension[]);
  return {
    semantic_model: others.length > 0 ? { ...rest, custom_extensions: others } : rest,
    verified_queries: verified,
  };
};

const exportedQuery = ({ name, question, sql, query, use_as_onboarding_question }: VerifiedQuery) => ({
  name,
  question,
  ...(sql === undefined ? { query } : { sql }),
  use_as_onboarding_question,
});

/** The Ossie document of a model. */
export const documentOf = ({
  semantic_model,
  verified_queries,
}: Pick<SemanticDataModelRow, 'semantic_model' | 'verified_queries'>) => {
  const extension: CustomExtension = {
    vendor_name: vendor,
    data: JSON.stringify({ verified_queries: verified_queries.map(exportedQuery) }),
  };
  const model: SemanticModel =
    verified_queries.length === 0
      ? semantic_model
      : { ...semantic_model, custom_extensions: [...(semantic_model.custom_extensions ?? []), extension] };
  return { version, semantic_model: [model] };
};
