import type pg from 'pg';

/**
 * Looks again and again at what the connections do. `rows` returns the statements that were found most often, with the
 * milliseconds a second that this makes: PostgreSQL as the harness has it comes without pg_stat_statements.
 */
export const newSampler = (db: pg.Client) => {
  const found = new Map<string, number>();
  let looks = 0;
  return {
    look: async (): Promise<void> => {
      looks++;
      const { rows } = await db.query<{ what: string }>(
        `select left(regexp_replace(
            case backend_type when 'client backend' then '' else backend_type || ': ' end || query, '\\s+', ' ', 'g'), 110) as what
          from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()`,
      );
      for (const { what } of rows) found.set(what, (found.get(what) ?? 0) + 1);
    },
    rows: () =>
      [...found]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 12)
        .map(([statement, times]) => ({
          'ms a second': Math.round((times / looks) * 1_000),
          statement,
        })),
  };
};
