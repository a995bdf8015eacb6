export interface Issue {
  severity: 'error' | 'warning';
  /** `unknown_table`, `unknown_column`, `type_changed`, … */
  code: string;
  /** A path in the body: `semantic_model.datasets[0].source`. */
  path: string;
  message: string;
  /** Names that were probably meant, the nearest first. */
  suggestions: string[];
}
