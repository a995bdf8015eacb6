import { createParser } from 'eventsource-parser';
import { useEffect, useEffectEvent, useState } from 'react';
import { readPreference, writePreference } from '../base/preferences.ts';
import { addressOf, type OperationId, type Params } from './operations.ts';
import { send } from './request.ts';
import { streamSlots } from './stream-slots.ts';

export interface StreamEvent {
  id: string;
  event: string;
  data: unknown;
}

const dataOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const readEvents = async (
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> => {
  const parser = createParser({
    onEvent: ({ id = '', event = 'message', data }) => onEvent({ id, event, data: dataOf(data) }),
  });
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
};

const slots = streamSlots(
  { read: readPreference, write: writePreference },
  Math.random().toString(36).slice(2),
);
// A page that is loaded again is another tab for the others.
globalThis.addEventListener?.('pagehide', () => slots.release());

/** The pause before a tab without a slot asks again, in milliseconds. */
const slotRetryMs = 10_000;

/** A tab has one stream at most: opening another ends this one. */
let endCurrent: (() => void) | null = null;

export interface EventStreamOptions {
  enabled?: boolean;
  after?: string;
  onEvent: (event: StreamEvent) => void;
}

/** `live`: events come. `failed`: poll instead (`polling.withoutStream`). `closed`: not wanted, or the page is hidden. */
export type StreamState = 'closed' | 'live' | 'failed';

/**
 * Follows the server-sent events of an operation while the page is visible, from the last event on. After a failure it tries
 * again after 2, 4 … 60 s, and the page polls in the meantime. The platform ends the stream at a final state: pass
 * `enabled: false` then. A tab has one stream at most, and at most three tabs of a browser have one; the others poll.
 */
export const useEventStream = <O extends Extract<OperationId, `follow${string}`>>(
  operation: O,
  params: Params<O>,
  { enabled = true, after, onEvent }: EventStreamOptions,
): StreamState => {
  const path = addressOf(operation, params);
  const [state, setState] = useState<StreamState>('closed');
  const receive = useEffectEvent(onEvent);
  const firstId = useEffectEvent(() => after ?? '');
  useEffect(() => {
    if (!enabled) return;
    let lastId = firstId();
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current: AbortController | null = null;
    let over = false;
    const close = () => {
      clearTimeout(timer);
      current?.abort();
      if (current) slots.release();
      current = null;
    };
    // The other tab keeps it: this one polls until there is a free slot.
    const onSlotLost = () => {
      close();
      setState('failed');
      timer = setTimeout(open, slotRetryMs);
    };
    const open = async () => {
      close();
      if (over || document.visibilityState !== 'visible') return;
      if (endCurrent !== end) endCurrent?.();
      endCurrent = end;
      if (!slots.take(onSlotLost)) {
        setState('failed');
        timer = setTimeout(open, slotRetryMs);
        return;
      }
      const controller = new AbortController();
      current = controller;
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (lastId !== '') headers['last-event-id'] = lastId;
      try {
        const response = await send('GET', path, { headers, signal: controller.signal, stream: true });
        setState('live');
        // 204: there is nothing to follow.
        if (response.body)
          await readEvents(response.body, (event) => {
            failures = 0;
            if (event.id !== '') lastId = event.id;
            receive(event);
          });
      } catch {
        failures += 1;
      }
      if (controller.signal.aborted) return;
      slots.release();
      current = null;
      setState('failed');
      timer = setTimeout(open, Math.min(60_000, 2_000 * 2 ** Math.max(0, failures - 1)));
    };
    const end = () => {
      over = true;
      close();
      setState('failed');
    };
    const onVisibility = () => {
      if (document.visibilityState === 'visible') void open();
      else {
        close();
        setState('closed');
      }
    };
    document.addEventListener('visibilitychange', onVisibility);
    void open();
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      over = true;
      close();
      if (endCurrent === end) endCurrent = null;
      setState('closed');
    };
  }, [path, enabled]);
  return state;
};
