import { states } from '../text/en/states.ts';
import { Button } from './Button.tsx';
import css from './Conflict.module.css';
import { Dialog } from './Dialog.tsx';

export interface Difference {
  label: string;
  theirs: string;
  mine: string;
}

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
            <td>
              <pre className={css.theirs}>{difference.theirs}</pre>
            </td>
            <td>
              <pre className={css.mine}>{difference.mine}</pre>
            </td>
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
