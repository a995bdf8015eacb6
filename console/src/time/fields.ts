/** A time as a field of the browser has it, in its zone: `2026-11-20T08:00`; empty if there is none. */
export const fieldOfTime = (iso: string | null | undefined): string => {
  if (!iso || Number.isNaN(Date.parse(iso))) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** Converts the value of such a field to a time of the API. */
export const timeOfField = (value: string): string => new Date(value).toISOString();
