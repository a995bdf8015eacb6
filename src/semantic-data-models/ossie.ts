import type { Datatype } from '@agent-platform/sql';

/** A semantic model as Apache Ossie 0.2.0 writes it (core-spec/spec.md). Unknown keys are kept. */

export type AiContext = string | { instructions?: string; synonyms?: string[]; examples?: string[] };

export interface CustomExtension {
  vendor_name: string;
  /** JSON. */
  data: string;
}

export interface DialectExpressions {
  dialects: { dialect: string; expression: string }[];
}

interface Described {
  name: string;
  description?: string;
  ai_context?: AiContext;
  custom_extensions?: CustomExtension[];
}

export interface Field extends Described {
  expression: DialectExpressions;
  datatype?: Datatype;
  dimension?: { is_time?: boolean };
  label?: string;
}

export interface Dataset extends Described {
  source: string;
  primary_key?: string[];
  unique_keys?: string[][];
  fields?: Field[];
}

export interface Relationship extends Described {
  from: string;
  to: string;
  from_columns: string[];
  to_columns: string[];
}

export interface Metric extends Described {
  expression: DialectExpressions;
  datatype?: Datatype;
}

export interface SemanticModel extends Described {
  datasets: Dataset[];
  relationships?: Relationship[];
  metrics?: Metric[];
}

/** The names that people use for it besides its own. */
export const synonymsOf = ({ ai_context }: Pick<Described, 'ai_context'>): string[] =>
  typeof ai_context === 'object' ? (ai_context.synonyms ?? []) : [];
