import { audit } from '../audit/index.ts';
import { lockDataConnectionForShare } from '../data-connections/index.ts';
import { advisoryLock, type Tx } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { type ApiError, badRequest, type Fault, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import type { SemanticModel } from './ossie.ts';
import type { Body, VerifiedQueryInput } from './schemas.ts';
import {
  countSemanticDataModels,
  deleteSemanticDataModelRow,
  type Fields,
  findLockedSemanticDataModel,
  insertSemanticDataModel,
  lockSemanticDataModelForDelete,
  type SemanticDataModelRow,
  updateSemanticDataModelRow,
  type Validation,
  type VerifiedQuery,
} from './store.ts';

/** A body whose document obeys the static rules, with the warnings that it has. */
export type CheckedBody = Body & { semantic_model: SemanticModel; validation: Validation };

/** The queries with who verified each, and when: one that has not changed keeps it. */
const verified = (
  given: readonly VerifiedQueryInput[],
  before: readonly VerifiedQuery[],
  actor: Actor,
  now: string,
): VerifiedQuery[] =>
  given.map(({ name, question, sql, query, use_as_onboarding_question }) => {
    const same = before.find(
      (one) =>
        one.name === name &&
        one.question === question &&
        one.sql === sql &&
        canonicalJson(one.query) === canonicalJson(query),
    );
    return {
      name,
      question,
      ...(sql === undefined ? { query: query! } : { sql }),
      use_as_onboarding_question,
      verified_by: same?.verified_by ?? actor.principal.id,
      verified_at: same?.verified_at ?? now,
    };
  });

const fieldsOf = (
  { name, description, data_connection_id, semantic_model, verified_queries, validation }: CheckedBody,
  before: readonly VerifiedQuery[],
  actor: Actor,
  now: string,
): Fields => ({
  name: name ?? semantic_model.name,
  description,
  data_connection_id,
  semantic_model,
  verified_queries: verified(verified_queries, before, actor, now),
  validation,
});

const unknownConnection = (others: Fault[] = []): ApiError =>
  unprocessable([{ path: 'data_connection_id', message: 'is not a data connection' }, ...others]);

/** Locks the data connection, so that it is not deleted before the transaction ends. Throws 422 if there is none. */
const lockConnection = async (tx: Tx, id: string): Promise<void> => {
  if (!isId(id) || !(await lockDataConnectionForShare(tx, id))) throw unknownConnection();
};

/** Throws 422 unless `engine` was found for the data connection of a body; `others` are more faults of it. */
export const requireConnection = <E>(engine: E | undefined, others?: () => Fault[]): E => {
  if (engine === undefined) throw unknownConnection(others?.());
  return engine;
};

/** A model in the audit log: its size, not its text. */
const summary = ({ name, data_connection_id, semantic_model, verified_queries }: Fields) => ({
  name,
  data_connection_id,
  datasets: semantic_model.datasets.length,
  metrics: semantic_model.metrics?.length ?? 0,
  verified_queries: verified_queries.length,
});

/**
 * Creates a model. Throws 400 if there are as many as there may be. `leaving`: how many others the transaction deletes
 * afterwards.
 */
export const createSemanticDataModel = async (
  tx: Tx,
  actor: Actor,
  body: CheckedBody,
  now: string,
  leaving = 0,
): Promise<SemanticDataModelRow> => {
  // Otherwise several creates at once would each count too few.
  await advisoryLock(tx, 'semantic data models');
  const { MAX_SEMANTIC_DATA_MODELS: max } = await readSettings(tx);
  if ((await countSemanticDataModels(tx)) - leaving >= max) {
    throw badRequest(`There are ${max} semantic data models, the maximum. Delete one first.`, {
      setting: 'MAX_SEMANTIC_DATA_MODELS',
    });
  }
  await lockConnection(tx, body.data_connection_id);
  const fields = fieldsOf(body, [], actor, now);
  const row = await insertSemanticDataModel(tx, {
    id: newId(),
    created_by: actor.principal.id,
    ...fields,
  });
  await audit(tx, actor, 'semantic_data_model.create', row.id, summary(fields));
  return row;
};

/** Returns the model, locked with its new data connection. Throws 404, or 422 for an unknown connection. */
export const lockToReplace = async (
  tx: Tx,
  id: string,
  { data_connection_id }: Pick<CheckedBody, 'data_connection_id'>,
): Promise<SemanticDataModelRow> => {
  const before = await findLockedSemanticDataModel(tx, id);
  if (!before) throw notFound('semantic data model');
  await lockConnection(tx, data_connection_id);
  return before;
};

/** Replaces the model that `lockToReplace` returned. */
export const replaceSemanticDataModel = async (
  tx: Tx,
  actor: Actor,
  { id, verified_queries }: SemanticDataModelRow,
  body: CheckedBody,
  now: string,
): Promise<SemanticDataModelRow> => {
  const fields = fieldsOf(body, verified_queries, actor, now);
  const row = await updateSemanticDataModelRow(tx, id, fields);
  await audit(tx, actor, 'semantic_data_model.update', id, summary(fields));
  return row;
};

/** Throws 412 with `agent_ids` while agents name the model. */
export type CheckUnused = (tx: Tx, id: string) => Promise<void>;

/** Returns the model, locked so that no agent begins to name it. Throws 404 if there is none. */
export const lockToDelete = async (tx: Tx, id: string): Promise<SemanticDataModelRow> => {
  const row = await lockSemanticDataModelForDelete(tx, id);
  if (!row) throw notFound('semantic data model');
  return row;
};

/** Deletes the locked model. Throws 412 with `agent_ids` while agents use it. */
export const deleteSemanticDataModel = async (
  tx: Tx,
  actor: Actor,
  checkUnused: CheckUnused,
  { id, name }: SemanticDataModelRow,
): Promise<void> => {
  await checkUnused(tx, id);
  await deleteSemanticDataModelRow(tx, id);
  await audit(tx, actor, 'semantic_data_model.delete', id, { name });
};
