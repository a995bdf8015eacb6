export type RefusalReason =
  | 'syntax_error'
  | 'not_a_select'
  | 'multiple_statements'
  | 'unknown_table'
  | 'unknown_column'
  | 'function_not_allowed'
  | 'not_supported';

export interface RefusalDetails {
  reason: RefusalReason;
  /** Name of the refused table, column, function or word of the grammar. */
  name: string | null;
  /** Position in the text, in characters from 1; null if it stands in no text. */
  position: number | null;
  /** Names that were probably meant, the nearest first. */
  suggestions: readonly string[];
}

/** SQL that is not accepted. `message` is for who wrote it: what is wrong, then what to do. */
export class SqlRefusal extends Error {
  readonly details: RefusalDetails;

  constructor(reason: RefusalReason, message: string, details: Partial<RefusalDetails> = {}) {
    super(message);
    this.name = 'SqlRefusal';
    this.details = { name: null, position: null, suggestions: [], ...details, reason };
  }

  get reason(): RefusalReason {
    return this.details.reason;
  }
}

/** For what SQL has and this does not. */
export const notSupported = (message: string, name: string | null = null, position?: number): SqlRefusal =>
  new SqlRefusal('not_supported', message, { name, position: position ?? null });
