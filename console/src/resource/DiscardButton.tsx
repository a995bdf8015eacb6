import { useNavigate } from '@tanstack/react-router';
import { discardUnsaved } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { Button } from '../ui/index.ts';

/** Leaves a form for the page at `href`. It says already that what was typed is lost, so nothing asks about it. */
export const DiscardButton = ({ href }: { href: string }) => {
  const navigate = useNavigate();
  return (
    <Button
      kind="quiet"
      onClick={() => {
        discardUnsaved();
        void navigate({ href });
      }}
    >
      {common.discard}
    </Button>
  );
};
