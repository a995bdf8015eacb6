/** The text of a field that is for a JSON object; '' if it is empty. */
export const jsonText = (value: object | null | undefined): string =>
  value && Object.keys(value).length > 0 ? JSON.stringify(value, null, 2) : '';

/** Reads a JSON object that a person wrote; null if it is something else. */
export const readObject = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
};

/** A JSON value as the text of a field for text or JSON; '' for null. A text that would read as JSON is shown as JSON. */
export const valueText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return typeof readValue(value) === 'string' ? value : JSON.stringify(value);
};

/** Reads text or JSON that a person wrote; null if it is empty. */
export const readValue = (text: string): unknown => {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
