import { useBlocker } from '@tanstack/react-router';
import { hasUnsaved } from '../api/unsaved.ts';
import { common } from '../text/en/common.ts';
import { shell } from '../text/en/shell.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';

/** Another tab of a page takes its form away; any other change of the query does not. */
const tabOf = ({ search }: { search: object }): unknown => ('tab' in search ? search.tab : undefined);

/** Asks before the person leaves a form with changes that are not saved, also by closing the window. */
export const LeaveQuestion = () => {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname || tabOf(current) !== tabOf(next)) && hasUnsaved(),
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title={shell.leave}
      actions={
        <Button kind="danger" onClick={() => proceed?.()}>
          {common.discard}
        </Button>
      }
    >
      <p>{shell.leaveMore}</p>
    </Dialog>
  );
};
