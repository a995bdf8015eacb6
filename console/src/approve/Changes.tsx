import { approve as words } from '../text/en/approve.ts';
import { states } from '../text/en/states.ts';
import { type DiffLine, diffLines } from '../ui/line-diff.ts';
import { orderedLike, shownJson } from './draft.ts';

/** Lines around a change that are shown with it. */
const around = 2;

interface Row extends DiffLine {
  side: 'both' | 'removed' | 'added';
}

/** The lines of both sides under each other, without those that are far from any change. */
const rowsOf = (before: unknown, after: unknown): Row[] => {
  const { left, right } = diffLines(shownJson(before), shownJson(orderedLike(before, after)));
  const rows: Row[] = [];
  let added: Row[] = [];
  left.forEach((line, i) => {
    if (line.mark === 'same') {
      rows.push(...added, { ...line, side: 'both' });
      added = [];
      return;
    }
    if (line.mark === 'only') rows.push({ ...line, side: 'removed' });
    if (right[i]!.mark === 'only') added.push({ ...right[i]!, side: 'added' });
  });
  rows.push(...added);
  const isNear = (at: number) =>
    rows.slice(Math.max(0, at - around), at + around + 1).some(({ side }) => side !== 'both');
  return rows.filter((_, at) => isNear(at));
};

const Line = ({ side, text }: Row) => {
  if (side === 'both') return <span className="line">{`  ${text}\n`}</span>;
  const sign = side === 'added' ? states.added : states.removed;
  const Mark = side === 'added' ? 'ins' : 'del';
  return <Mark className="line">{`${sign} ${text}\n`}</Mark>;
};

/** What a person changed in the arguments of a call. */
export const Changes = ({ before, after }: { before: unknown; after: unknown }) => {
  const rows = rowsOf(before, after);
  return (
    <section aria-label={words.changes} className="changes">
      <h3>{words.changes}</h3>
      {rows.length === 0 ? (
        <p className="hint">{words.noChanges}</p>
      ) : (
        <pre>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name.
            <Line key={at} {...row} />
          ))}
        </pre>
      )}
    </section>
  );
};
