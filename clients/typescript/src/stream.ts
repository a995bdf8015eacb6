/** An event of a stream: `id` is its number, `event` its type (`message.delta`), `data` what it says. */
export interface StreamEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/**
 * Yields the events of a body of the type text/event-stream (HTML Living Standard, 9.2.6, as far as the platform uses it:
 * `id`, `event`, `data` and `retry`, lines that end in LF). Calls `seen` with the id before it yields one. Returns `completed` after
 * `run.completed`, which is the last event of a run. Otherwise the connection ended early, and it returns for how many
 * milliseconds to wait before the next.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  seen: (id: string) => void,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent, number | 'completed'> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  let retry = 2_000;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return retry;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(
          block
            .split('\n')
            .map((line) => (/^(\w*): ?(.*)$/.exec(line)?.slice(1) as [string, string]) ?? ['', '']),
        );
        if (fields.has('retry')) retry = Number(fields.get('retry'));
        if (!fields.has('data')) continue;
        const event = {
          id: fields.get('id') ?? '',
          event: fields.get('event') ?? 'message',
          data: JSON.parse(fields.get('data')!),
        };
        seen(event.id);
        yield event;
        if (event.event === 'run.completed') return 'completed';
      }
    }
  } catch (error) {
    if (signal?.aborted || error instanceof SyntaxError) throw error;
    return retry;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
