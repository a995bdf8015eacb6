/** A figure of the quick benchmark. */
export interface QuickRow {
  /** Its name, by which a later run finds it. */
  what: string;
  unit: 'ms' | 'MB' | 'µs' | '/s' | '%' | 'ms/s';
  better: 'less' | 'more';
  value: number;
  /** The same of a peer or limit in this run, in the same unit. */
  limit?: number;
}

export const less = (what: string, unit: QuickRow['unit'], value: number, limit?: number): QuickRow => ({
  what,
  unit,
  better: 'less',
  value,
  ...(limit !== undefined && { limit }),
});

export const more = (what: string, unit: QuickRow['unit'], value: number, limit?: number): QuickRow => ({
  ...less(what, unit, value, limit),
  better: 'more',
});
