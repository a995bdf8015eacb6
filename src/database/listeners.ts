import { outsideTransaction } from './database.ts';

/** Receives the payload of a notification; null if some may have been lost. */
export type Listener = (payload: string | null) => void;

/** The listeners of each channel. A listener that is added again is called once. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<Listener>>();

  /** Returns whether this is the first listener of the channel. */
  add(channel: string, listener: Listener): boolean {
    const listeners = this.#byChannel.get(channel);
    if (listeners) {
      listeners.add(listener);
      return false;
    }
    this.#byChannel.set(channel, new Set([listener]));
    return true;
  }

  channels(): Iterable<string> {
    return this.#byChannel.keys();
  }

  /** Calls every listener of the channel, outside any transaction. */
  notify(channel: string, payload: string | null): void {
    for (const listener of this.#byChannel.get(channel) ?? []) outsideTransaction(() => listener(payload));
  }
}
