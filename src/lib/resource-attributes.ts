/**
 * Reads OTEL_RESOURCE_ATTRIBUTES: `key=value` pairs with commas between them, keys and values percent-encoded (the
 * OpenTelemetry specification, "Specifying resource information via an environment variable"). Returns null if a pair
 * is malformed: the specification ignores all pairs then.
 */
export const parseResourceAttributes = (text: string): Record<string, string> | null => {
  const attributes: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const equals = pair.indexOf('=');
    if (equals < 0) return null;
    try {
      const key = decodeURIComponent(pair.slice(0, equals).trim());
      if (key === '') return null;
      attributes[key] = decodeURIComponent(pair.slice(equals + 1).trim());
    } catch {
      return null;
    }
  }
  return attributes;
};
