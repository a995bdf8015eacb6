interface Page {
  data?: unknown[];
  records?: unknown[];
  rows?: unknown[];
  has_more?: boolean;
  next?: string;
  next_offset?: number | null;
}

type RecordOf<T> = T extends { data: (infer R)[] } | { records: (infer R)[] } | { rows: (infer R)[] }
  ? R
  : never;

/**
 * Yields every record of a list, page by page: `each(platform.listWorkItems, { query: { status: 'ERROR' } })`. The next
 * page is asked for when the records of the one before are used up.
 */
export async function* each<I extends { query?: object }, P>(
  list: (input: I) => Promise<P>,
  // From the list alone, so that a word of the input is one of its enumeration and not any string.
  input: NoInfer<I> = {} as NoInfer<I>,
): AsyncGenerator<RecordOf<P>, void> {
  let from = {};
  for (;;) {
    const page = (await list({ ...input, query: { ...input.query, ...from } })) as Page;
    yield* (page.data ?? page.records ?? page.rows ?? []) as RecordOf<P>[];
    if (page.has_more) from = { next: page.next };
    else if (typeof page.next_offset === 'number') from = { offset: page.next_offset };
    else return;
  }
}
