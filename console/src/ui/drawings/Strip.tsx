import { ui } from '../../text/en/ui.ts';
import { list } from '../../text/format.ts';
import { type Outcome, outcomeKinds, Shape, wordOf } from './marks.tsx';

const countWords = (kinds: readonly Outcome[]): string =>
  list(
    outcomeKinds
      .map((kind) => [kind, kinds.filter((each) => each === kind).length] as const)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => ui.countWord(count, wordOf(kind).toLowerCase())),
  );

/** The last occurrences of a schedule, the oldest first. */
export const Strip = ({ kinds }: { kinds: readonly Outcome[] }) =>
  kinds.length === 0 ? null : (
    <svg
      width={kinds.length * 9 + 1}
      height="16"
      role="img"
      aria-label={`${ui.lastOccurrences(kinds.length)}: ${countWords(kinds)}`}
      style={{ verticalAlign: -2, maxWidth: '100%' }}
    >
      {kinds.map((kind, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is what the mark is about.
        <Shape key={index} kind={kind} x={index * 9} y={1} />
      ))}
    </svg>
  );
