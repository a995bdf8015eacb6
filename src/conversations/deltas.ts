import { newId } from '../lib/ids.ts';
import { storable } from '../lib/storable.ts';
import type { NewEvent } from './event-store.ts';

/** Text is gathered until it is so old or so long. */
const gatherMs = 100;
const gatherBytes = 2_048;
/** Delay after a failure of the database. */
const retryMs = 1_000;

/** `text` in parts of at most `gatherBytes` bytes of UTF-8, none of which ends inside a character. */
const split = (text: string): string[] => {
  if (Buffer.byteLength(text) <= gatherBytes) return text === '' ? [] : [text];
  const parts: string[] = [];
  let part = '';
  let bytes = 0;
  for (const character of text) {
    const more = Buffer.byteLength(character);
    if (bytes + more > gatherBytes) {
      parts.push(part);
      part = '';
      bytes = 0;
    }
    part += character;
    bytes += more;
  }
  return [...parts, part];
};

/**
 * The text of a reply on its way from the model to those who follow the conversation: the first of it is stored at
 * once, the rest is gathered for a moment. Nothing is sent that is not stored.
 */
export class Deltas {
  readonly #store: (events: readonly NewEvent[]) => Promise<void>;
  readonly #attempt: number;
  readonly #signal: AbortSignal;
  #messageId: string | null = null;
  /** The reply that is complete, while `take` waits for what is being stored of it. */
  #taking: string | null = null;
  /** True if some of the reply is stored, or is being stored. */
  #begun = false;
  #text = '';
  /** Replies that were begun and are void. */
  #void: string[] = [];
  #storing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `store` is one transaction. Nothing is stored once `signal` is aborted. */
  constructor(attempt: number, signal: AbortSignal, store: (events: readonly NewEvent[]) => Promise<void>) {
    this.#attempt = attempt;
    this.#signal = signal;
    this.#store = store;
  }

  /** A model is asked: what came of the reply before, if it was not taken, is void. Returns what receives the text. */
  begin(): (text: string) => void {
    this.#clearTimer();
    if (this.#messageId && this.#begun) this.#void.push(this.#messageId);
    const id = newId();
    this.#messageId = id;
    this.#begun = false;
    this.#text = '';
    return (text) => {
      if (this.#messageId !== id || this.#closed) return;
      this.#text += text;
      if (!this.#begun || this.#text.length >= gatherBytes) this.#flush();
      else this.#schedule(gatherMs);
    };
  }

  /**
   * Resolves to the id of the reply, which is complete, and to what is still to be stored of it. Nothing more comes of
   * it.
   */
  async take(): Promise<{ id: string; events: NewEvent[] }> {
    this.#clearTimer();
    const id = this.#messageId ?? newId();
    [this.#messageId, this.#taking] = [null, id];
    await this.#storing;
    this.#taking = null;
    const events = this.#events(id, this.#text);
    this.#text = '';
    return { id, events };
  }

  /** Stores nothing more. Resolves when nothing is being stored. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#clearTimer();
    await this.#storing;
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Stores the text after `milliseconds`, or sooner if that was planned before. */
  #schedule(milliseconds: number): void {
    if (this.#storing || this.#closed || this.#signal.aborted) return;
    this.#timer ??= setTimeout(() => this.#flush(), milliseconds);
  }

  #events(messageId: string, text: string): NewEvent[] {
    const message_ids = this.#void.splice(0);
    const deltas = split(storable(text)).map(
      (part): NewEvent => ({
        type: 'message.delta',
        messageId,
        data: { message_id: messageId, text: part },
      }),
    );
    if (message_ids.length === 0) return deltas;
    return [{ type: 'run.reset', data: { attempt: this.#attempt, message_ids } }, ...deltas];
  }

  #flush(): void {
    this.#clearTimer();
    const id = this.#messageId;
    if (this.#storing || this.#closed || this.#signal.aborted || id === null) return;
    // The other half of a character may be on its way.
    const end = /[\ud800-\udbff]$/.test(this.#text) ? this.#text.length - 1 : this.#text.length;
    const text = this.#text.slice(0, end);
    const voided = [...this.#void];
    const events = this.#events(id, text);
    if (events.length === 0) return;
    this.#text = this.#text.slice(end);
    this.#begun = true;
    this.#storing = this.#store(events).then(
      () => this.#stored(gatherMs),
      () => {
        if (this.#messageId === id || this.#taking === id) this.#text = text + this.#text;
        this.#void.unshift(...voided);
        this.#stored(retryMs);
      },
    );
  }

  #stored(waitMs: number): void {
    this.#storing = null;
    if (this.#text.length >= gatherBytes && waitMs === gatherMs) this.#flush();
    else if (this.#text !== '') this.#schedule(waitMs);
  }
}
