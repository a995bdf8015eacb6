import type { PublicSemanticDataModel, VerifiedQuery } from '../../api/types.gen.ts';

/** A semantic model of Apache Ossie, as far as pages show it. The API checks it; a page may get less. */
export interface SemanticModel {
  name?: string;
  description?: string;
  datasets?: Dataset[];
  relationships?: Relationship[];
  metrics?: Metric[];
}

interface Described {
  name: string;
  description?: string;
  ai_context?: string | { synonyms?: string[] };
  expression?: { dialects?: { dialect: string; expression: string }[] };
  datatype?: string;
}

export interface Field extends Described {
  label?: string;
  dimension?: { is_time?: boolean };
}
export type Metric = Described;

export interface Dataset extends Described {
  source: string;
  primary_key?: string[];
  fields?: Field[];
}

export interface Relationship {
  name: string;
  from: string;
  to: string;
  from_columns: string[];
  to_columns: string[];
}

export const modelOf = ({ semantic_model }: Pick<PublicSemanticDataModel, 'semantic_model'>): SemanticModel =>
  semantic_model as SemanticModel;

/** The expression of a field or metric. Those of other dialects are in the text. */
export const expressionOf = ({ expression }: Described): string =>
  expression?.dialects?.[0]?.expression ?? '';

export const synonymsOf = ({ ai_context }: Described): string[] =>
  typeof ai_context === 'object' ? (ai_context.synonyms ?? []) : [];

/** Body of a verified query: the platform decides who verified it, and when. */
const sentQuery = ({ verified_by: _by, verified_at: _at, ...query }: VerifiedQuery) => query;

/** The body of a PUT that changes nothing. */
export const bodyOf = (model: PublicSemanticDataModel) => ({
  name: model.name,
  description: model.description,
  data_connection_id: model.data_connection_id,
  semantic_model: model.semantic_model,
  verified_queries: model.verified_queries.map(sentQuery),
});
