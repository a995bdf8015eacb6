import { type LoadState, type Output, type QueryOf, useOperation } from '../api/index.ts';

/**
 * The tables of a data connection; null while there is none. It asks the foreign database: not every few seconds, and not
 * because the page gets the focus.
 */
export const useTables = (
  connectionId: string | null,
  query: QueryOf<'listDataConnectionTables'>,
  keepPrevious = false,
): LoadState<Output<'listDataConnectionTables'>> =>
  useOperation(
    'listDataConnectionTables',
    connectionId === null ? null : { data_connection_id: connectionId },
    { query, keepPrevious, staleTime: 60_000, onFocus: false },
  );
