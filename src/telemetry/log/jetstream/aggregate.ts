import { type Accepted, nothingAccepted } from '../record.ts';
import { decodeHead, type Head, headerNames } from './message.ts';
import type { StoredHeaders } from './stream.ts';

/** What had been accepted up to and with the message `seq`. Kept in the database: see migrations/0060_telemetry_streams.sql. */
export interface Mark {
  seq: number;
  /** When that message was stored, ms since 1970. */
  time: number;
  totals: ReadonlyMap<number, Accepted>;
  /** Bytes of all messages up to there, ever. */
  bytes: number;
  /** The lowest message that a record since the mark before refers to; infinite where none refers to any. */
  needs: number;
  /** Bodies whose head had not come yet: id, first message, its time. */
  uploads: [id: string, first: number, time: number][];
}

export interface FoldOptions {
  /** A mark after so many bytes (default 16 MiB) or ms (default 5 min): what retention can drop at a time. */
  markBytes?: number;
  markMs?: number;
}

/** Heads kept in memory, about 300 bytes each; those before them are read again where someone is as far behind. */
const headsInMemory = 20_000;
const headsAlwaysKept = 1_000;
/**
 * A body whose head has not come this long after its first part belongs to a writer that gave up: writers give up
 * after `uploadWithinMs`. By the server's time.
 */
const uploadForgottenMs = 120_000;
/** Head and chunks of one record are stored within this time, or its append fails. */
export const uploadWithinMs = 20_000;

/** In a message beside its payload: subject and id, roughly. */
const messageOverhead = 100;

/**
 * The account of what was accepted, as the sum over the stream: every replica reads the headers of all messages
 * in order and comes to the same totals. Pure: knows neither network nor database.
 */
export class Fold {
  /** Everything up to this message is in the totals. */
  seq = 0;
  totals = new Map<number, Accepted>();
  /** Oldest first; the first says what was accepted before all that is left in the stream. */
  marks: Mark[] = [];
  /** Up to this one (its `seq`) all marks are saved: they were restored, or whoever saves more says so here. */
  savedMark = 0;
  /** The heads behind `headsFrom`, in order. */
  heads: Head[] = [];
  headsFrom = 0;
  readonly #options: Required<FoldOptions>;
  #bytes = 0;
  #time = 0;
  /** The time of the first message behind the newest mark; 0 where there is none. */
  #since = 0;
  #needs = Number.POSITIVE_INFINITY;
  #uploads = new Map<string, { first: number; time: number }>();

  constructor({ markBytes = 16 * 1024 * 1024, markMs = 300_000 }: FoldOptions = {}) {
    this.#options = { markBytes, markMs };
  }

  /** Goes on from the newest of these marks, which are saved. */
  restore(marks: readonly Mark[]): void {
    this.marks = [...marks];
    const newest = marks.at(-1);
    this.heads = [];
    this.seq = newest?.seq ?? 0;
    this.savedMark = this.seq;
    this.headsFrom = this.seq;
    this.totals = new Map(newest?.totals);
    this.#bytes = newest?.bytes ?? 0;
    this.#time = newest?.time ?? 0;
    this.#since = 0;
    this.#needs = Number.POSITIVE_INFINITY;
    this.#uploads = new Map(newest?.uploads.map(([id, first, time]) => [id, { first, time }]));
  }

  /** The next message. Answers its head where it is one. */
  take(message: StoredHeaders): Head | null {
    const { markBytes, markMs } = this.#options;
    const bytes = this.#bytes - (this.marks.at(-1)?.bytes ?? 0);
    if (bytes >= markBytes || (this.#since > 0 && message.time - this.#since >= markMs)) this.mark();
    this.#since ||= message.time;
    this.seq = message.seq;
    this.#time = Math.max(this.#time, message.time);
    this.#bytes += message.size + messageOverhead;
    if (message.kind === 'chunk') {
      const id = message.header(headerNames.upload);
      if (id !== '' && !this.#uploads.has(id))
        this.#uploads.set(id, { first: message.seq, time: message.time });
      return null;
    }
    const head = decodeHead(message.header, message.seq, this.#time);
    if (head === null) return null;
    if (head.upload !== null) this.#uploads.delete(head.upload);
    this.#needs = Math.min(this.#needs, ...head.chunks);
    for (const [number, { spans, bytes }] of head.account) {
      const total = this.totals.get(number) ?? nothingAccepted;
      this.totals.set(number, { spans: total.spans + spans, bytes: total.bytes + bytes });
    }
    this.heads.push(head);
    // A quarter at a time: taking one off the beginning of a long list each time would be slow.
    if (this.heads.length > headsInMemory) this.#dropHeads(headsInMemory / 4);
    return head;
  }

  /** Makes a mark here, unless there is one. */
  mark(): void {
    if (this.seq === this.marks.at(-1)?.seq) return;
    this.#forgetUploads();
    this.marks.push({
      seq: this.seq,
      time: this.#time,
      totals: new Map(this.totals),
      bytes: this.#bytes,
      needs: this.#needs,
      uploads: [...this.#uploads].map(([id, { first, time }]) => [id, first, time]),
    });
    this.#since = 0;
    this.#needs = Number.POSITIVE_INFINITY;
  }

  accepted(number: number): Accepted {
    return this.totals.get(number) ?? nothingAccepted;
  }

  /** When the last message was stored. */
  get lastTime(): number {
    return this.#time;
  }

  /** Bytes of all messages behind the first mark: what has not been purged, or a little more. */
  get size(): number {
    return this.#bytes - (this.marks[0]?.bytes ?? 0);
  }

  /** Of these, behind this mark. */
  bytesBehind(mark: Mark): number {
    return this.#bytes - mark.bytes;
  }

  /** The newest mark at which no more than `spans` had been accepted for the integration: its next span is behind it. */
  markBefore(number: number, spans: number): Mark | undefined {
    return this.marks.findLast(({ totals }) => (totals.get(number)?.spans ?? 0) <= spans);
  }

  /** How many spans of the integration had been accepted by the newest mark that is not behind `seq`. */
  acceptedBy(number: number, seq: number): number {
    if (seq >= this.seq) return this.accepted(number).spans;
    return this.marks.findLast((mark) => mark.seq <= seq)?.totals.get(number)?.spans ?? 0;
  }

  /** The first message that is still needed where everyone has passed everything up to `passed`. */
  needed(passed: number): number {
    this.#forgetUploads();
    let first = passed + 1;
    for (const mark of this.marks) if (mark.seq > passed) first = Math.min(first, mark.needs);
    if (passed < this.seq) first = Math.min(first, this.#needs);
    for (const upload of this.#uploads.values()) first = Math.min(first, upload.first);
    return first;
  }

  /** Forgets what tells of messages before `seq` only. */
  trim(seq: number): void {
    const keep = this.marks.findLastIndex((mark) => mark.seq < seq);
    if (keep > 0) this.marks.splice(0, keep);
    const index = this.heads.findIndex((head) => head.seq >= seq);
    // An integration that was idle is read from the newest mark on: the last heads spare it the stream.
    const most = this.heads.length - headsAlwaysKept;
    if (most > 0) this.#dropHeads(Math.min(index < 0 ? most : index, most));
  }

  #dropHeads(count: number): void {
    const last = this.heads.splice(0, count).at(-1);
    if (last) this.headsFrom = last.seq;
  }

  #forgetUploads(): void {
    for (const [id, { time }] of this.#uploads) {
      if (this.#time - time > uploadForgottenMs) this.#uploads.delete(id);
    }
  }
}

/** As it stands in the database. */
export const markToJson = ({ totals, seq: _, needs, ...mark }: Mark): unknown => ({
  ...mark,
  needs: Number.isFinite(needs) ? needs : null,
  totals: [...totals].map(([number, { spans, bytes }]) => [number, spans, bytes]),
});

export const markFromJson = (seq: number, state: unknown): Mark => {
  const { totals, needs, ...rest } = state as Omit<Mark, 'totals' | 'needs' | 'seq'> & {
    needs: number | null;
    totals: [number, number, number][];
  };
  return {
    ...rest,
    seq,
    needs: needs ?? Number.POSITIVE_INFINITY,
    totals: new Map(totals.map(([number, spans, bytes]) => [number, { spans, bytes }])),
  };
};
