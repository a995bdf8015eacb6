import { states } from '../text/en/states.ts';
import { Button } from './Button.tsx';
import css from './Conflict.module.css';
import { Dialog } from './Dialog.tsx';
import { type DiffLine, diffLines } from './line-diff.ts';

export interface Difference {
  label: string;
  theirs: string;
  mine: string;
  /** Compared by line: what only one side has is marked. */
  byLine?: boolean;
}

const Lines = ({ lines, mark }: { lines: readonly DiffLine[]; mark: string }) => (
  <div className={css.lines} tabIndex={0}>
    {lines.map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the place of a line is what it is.
      <div key={index} className={css[line.mark]}>
        <span>{line.mark === 'only' ? mark : ''}</span>
        <span>{line.text}</span>
      </div>
    ))}
  </div>
);

const Sides = ({ theirs, mine, byLine }: Difference) => {
  if (!byLine) {
    return (
      <>
        <td>
          <pre className={css.theirs}>{theirs}</pre>
        </td>
        <td>
          <pre className={css.mine}>{mine}</pre>
        </td>
      </>
    );
  }
  const { left, right } = diffLines(theirs, mine);
  return (
    <>
      <td>
        <Lines lines={left} mark={states.removed} />
      </td>
      <td>
        <Lines lines={right} mark={states.added} />
      </td>
    </>
  );
};

/** Two versions next to each other. Fields that are the same are left out. */
export const DiffView = ({
  differences,
  theirs = states.theirs,
  mine = states.mine,
}: {
  differences: readonly Difference[];
  theirs?: string;
  mine?: string;
}) => {
  const changed = differences.filter((difference) => difference.theirs !== difference.mine);
  if (changed.length === 0) return <p>{states.noDifference}</p>;
  return (
    <table className={css.diff}>
      <thead>
        <tr>
          <th scope="col">{states.field}</th>
          <th scope="col">{theirs}</th>
          <th scope="col">{mine}</th>
        </tr>
      </thead>
      <tbody>
        {changed.map((difference) => (
          <tr key={difference.label}>
            <th scope="row">{difference.label}</th>
            <Sides {...difference} />
          </tr>
        ))}
      </tbody>
    </table>
  );
};

/** Someone else saved first (412): both versions, and which one stays. */
export const Conflict = ({
  open,
  differences,
  onKeepTheirs,
  onWriteMine,
  onClose,
  busy,
}: {
  open: boolean;
  differences: readonly Difference[];
  onKeepTheirs: () => void;
  onWriteMine: () => void;
  onClose: () => void;
  busy?: boolean;
}) => (
  <Dialog
    open={open}
    onClose={onClose}
    title={states.conflict}
    wide
    actions={
      <>
        <Button onClick={onKeepTheirs}>{states.keepTheirs}</Button>
        <Button kind="primary" busy={busy} onClick={onWriteMine}>
          {states.writeMine}
        </Button>
      </>
    }
  >
    <p className={css.lead}>{states.conflictMore}</p>
    <DiffView differences={differences} />
  </Dialog>
);
