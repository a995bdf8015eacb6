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
