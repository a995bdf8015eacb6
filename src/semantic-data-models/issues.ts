/** What a validation finds in a model. */
export interface Issue {
  severity: 'error' | 'warning';
  /** `unknown_table`, `unknown_column`, `type_changed`, … */
  code: string;
  /** Where in the body: `semantic_model.datasets[0].source`. */
  path: string;
  message: string;
  /** What was probably meant, the nearest first. */
  suggestions: string[];
}
