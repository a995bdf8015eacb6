import { type ReactNode, useState } from 'react';
import { type ApiProblem, useOperation } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { endingKeys as words } from '../text/en/ending-keys.ts';
import { Checkbox, Problem } from '../ui/index.ts';

/** The number of keys that a question names; of more it says how many there are at least. */
const shown = 200;

interface NamedKeys {
  keys: readonly { id: string; name: string; prefix: string }[];
  more: boolean;
  loading: boolean;
  error: ApiProblem | null;
}

const useNamedKeys = (filter: { owner: string } | { made_by: string } | null): NamedKeys => {
  const query = { ...filter, limit: shown };
  const { data, error } = useOperation(
    'listNamedApiKeys',
    {},
    { query, enabled: filter !== null, staleTime: 0 },
  );
  const loading = filter !== null && !data && !error;
  return { keys: (filter && data?.data) || [], more: data?.has_more ?? false, loading, error: error ?? null };
};

const Names = ({ lead, found }: { lead: string; found: NamedKeys }) =>
  found.keys.length === 0 ? null : (
    <>
      <p>{lead}</p>
      <ul>
        {found.keys.map(({ id, name, prefix }) => (
          <li key={id}>
            <b>{name}</b> <code>{`${prefix}…`}</code>
          </li>
        ))}
        {found.more && <li>{words.more}</li>}
      </ul>
    </>
  );

/** The parts of a question about keys that end. */
interface EndingKeys {
  part: ReactNode;
  /** For the request; undefined if there is nothing to decide. */
  endMadeKeys: boolean | undefined;
  disabledReason: string | null;
}

/**
 * The keys that end, pause or get weaker with a person or a key. `own`: the sentence above the keys of the person `id`; null
 * for none. `made`: the sentence above the keys that `id` made; null if they stay. `byDefault`: whether these end if no one
 * changes it.
 */
export const useEndingKeys = (
  id: string,
  { own, made, byDefault = true }: { own: string | null; made: string | null; byDefault?: boolean },
): EndingKeys => {
  const [ends, setEnds] = useState(byDefault);
  const ownKeys = useNamedKeys(own === null ? null : { owner: id });
  const madeKeys = useNamedKeys(made === null ? null : { made_by: id });
  const error = ownKeys.error ?? madeKeys.error;
  return {
    endMadeKeys: madeKeys.keys.length > 0 ? ends : undefined,
    disabledReason: ownKeys.loading || madeKeys.loading ? common.loading : null,
    part: (
      <>
        {error && <Problem error={error} />}
        <Names lead={own ?? ''} found={ownKeys} />
        <Names lead={made ?? ''} found={madeKeys} />
        {madeKeys.keys.length > 0 && (
          <Checkbox label={words.endMade} hint={words.endMadeHint} value={ends} onChange={setEnds} />
        )}
      </>
    ),
  };
};
