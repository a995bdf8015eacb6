/** A span that its backend refused for itself. */
export interface DeadLetter {
  id: string;
  at: string;
  /** What the backend answered: its status and the beginning of its message, scrubbed. */
  status: number;
  reason: string;
  bytes: number;
}

/** Dead letters of one integration, kept for the retention (product, section 9). */
export interface DeadLetters {
  /** Oldest first, after the given id. */
  list(number: number, options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /** Sends them again (all, or the given ones): what is accepted counts as delivered, the rest stays. */
  retry(number: number, ids?: readonly string[]): Promise<{ delivered: number; failed: number }>;
  /** Removes them (all, or the given ones), counted as discarded. Answers how many. */
  purge(number: number, ids?: readonly string[]): Promise<number>;
}
