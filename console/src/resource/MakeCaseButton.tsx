import { type ComponentProps, lazy, Suspense, useState } from 'react';
import { makeCase as words } from '../text/en/make-case.ts';
import { Button, useDisabledReason } from '../ui/index.ts';
import type { MakeCaseDialog } from './MakeCaseDialog.tsx';

// Few visitors of a finished run need its form.
const Asking = lazy(() =>
  import('./MakeCaseDialog.tsx').then(({ MakeCaseDialog }) => ({ default: MakeCaseDialog })),
);

/** The button that makes a case of a finished run. */
export const MakeCaseButton = (of: Omit<ComponentProps<typeof MakeCaseDialog>, 'onClose'>) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button disabledReason={useDisabledReason('createCase')} onClick={() => setOpen(true)}>
        {words.makeCase}
      </Button>
      {open && (
        <Suspense>
          <Asking {...of} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};
