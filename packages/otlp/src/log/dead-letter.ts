/** A span that its backend refused, alone. */
export interface DeadLetter {
  id: string;
  /** Time of the refusal, RFC 3339. */
  at: string;
  /** The backend's status and the beginning of its message, scrubbed. */
  status: number;
  reason: string;
  /** The size of the span's request. */
  bytes: number;
}

/** A refused span on its way into the log. */
export interface NewDeadLetter {
  /** The span's place among all that were accepted for its integration. */
  ordinal: number;
  at: string;
  status: number;
  reason: string;
  /** The span as an ExportTraceServiceRequest. */
  span: Buffer;
}

/** End of a dead letter: a retry was accepted, it was purged, or it is older than the retention. */
export type DeadLetterEnd = 'delivered' | 'discarded' | 'expired';

const idPattern = /^\d{16}$/;

export const isDeadLetterId = (id: string): boolean => idPattern.test(id);

/** Ids sort as the ordinals do. */
export const deadLetterId = (ordinal: number): string => String(ordinal).padStart(16, '0');
