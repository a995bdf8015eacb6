/** What is asked about: an event by its id, or a time of the viewer's clock, such as `2026-11-28 09:31`; null: nothing. */
export const whyQuery = (text: string | undefined): { event_id: string } | { at: string } | null => {
  if (text === undefined) return null;
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) return { event_id: text };
  const at = new Date(text.replace(' ', 'T'));
  return Number.isNaN(at.getTime()) ? { event_id: text } : { at: at.toISOString() };
};
