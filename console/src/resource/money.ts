/** Amounts as people type them: USD with at most nine decimals. Stored are whole nano-USD. */

/** Returns the nano-USD of a text such as `12.50` or `12,5`; null if it is no amount. */
export const nanoOf = (text: string): number | null => {
  const [, whole, decimals = ''] = /^(\d{1,9})(?:[.,](\d{1,9}))?$/.exec(text.trim().replace(/^\$/, '')) ?? [];
  if (whole === undefined) return null;
  return Number(whole) * 1e9 + Number(decimals.padEnd(9, '0'));
};

/** Returns USD without the sign, as a field shows them: `12.5`. */
export const plainUsd = (nano: number): string => {
  const decimals = String(nano % 1e9)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return decimals === '' ? String(Math.floor(nano / 1e9)) : `${Math.floor(nano / 1e9)}.${decimals}`;
};
