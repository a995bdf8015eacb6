// biome-ignore-all lint/suspicious/noExplicitAny: responses of an earlier release, field by field
/** What this release responds differently to the same requests, and why. Everything else is equal. */

/** `reason` is a sentence now; the word that it was is `cause`. */
const occurrence = ({ reason, ...same }: any) =>
  same.outcome === 'skipped' ? { ...same, cause: reason } : same;

/** `content` was a text, or an object with a text and tool calls; it is always a list of parts now. */
const message = ({ content, ...same }: any) => {
  if (typeof content === 'string') return { ...same, content: [{ type: 'text', text: content }] };
  const { tool_calls, text, ...result } = content;
  if (!tool_calls) return { ...same, content: [{ type: 'tool_result', text, ...result }] };
  const calls = tool_calls.map(({ id: tool_call_id, name: tool_name, ...call }: any) => ({
    type: 'tool_call',
    tool_call_id,
    tool_name,
    ...call,
  }));
  return { ...same, content: text === '' ? calls : [{ type: 'text', text }, ...calls] };
};

const list = (page: any, change: (one: any) => any) => ({ ...page, data: page.data.map(change) });

/** What 0.1.0 responded to a GET of `path`, as this release responds. */
export const expected = (path: string, body: any): any => {
  if (path.includes('/occurrences')) return list(body, occurrence);
  if (path.includes('/messages')) return list(body, message);
  return body;
};
