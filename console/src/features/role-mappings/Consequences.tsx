import { useEffect, useState } from 'react';
import { type ApiProblem, call } from '../../api/index.ts';
import type { RoleMapping, RoleMappingPreview } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { people as words } from '../../text/en/people.ts';
import { Callout } from '../../ui/index.ts';

export type Proposed = Pick<RoleMapping, 'claim' | 'value' | 'role' | 'priority'> & { id: string | null };

const shown = 5;
const afterMs = 300;

/** Says whose role a set of mappings would change, a moment after the last letter. */
export const Consequences = ({ mappings }: { mappings: readonly Proposed[] }) => {
  const [preview, setPreview] = useState<RoleMappingPreview | ApiProblem | null>(null);
  const key = JSON.stringify(mappings);
  useEffect(() => {
    const left = new AbortController();
    const timer = setTimeout(() => {
      call('previewRoleMappings', {}, { body: { mappings: JSON.parse(key) }, signal: left.signal }).then(
        ({ body }) => setPreview(body),
        (error) => left.signal.aborted || setPreview(error),
      );
    }, afterMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [key]);
  if (preview === null) return <Callout title={words.before}>{words.asking}</Callout>;
  // The fields say what is wrong with their values when they are saved.
  if (preview instanceof Error) return null;
  const { would_change_count: count, would_change_users: users, leaves_no_admin } = preview;
  if (count === 0) return <Callout title={words.before}>{words.nobody}</Callout>;
  const names = users.slice(0, shown);
  return (
    <Callout tone={leaves_no_admin ? 'bad' : 'look'} title={words.wouldChange(count)}>
      {names.map(({ id, name, from, to }) => (
        <p key={id}>{words.change(name, words.roleOf(from), words.roleOf(to))}</p>
      ))}
      {count > names.length && <p>{common.more(count - names.length)}</p>}
      {leaves_no_admin && <p>{words.noAdmin}</p>}
    </Callout>
  );
};
