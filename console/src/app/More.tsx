import { useEffect, useState } from 'react';
import { shell } from '../text/en/shell.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { DisplayChoices } from './Display.tsx';
import css from './More.module.css';
import { groupsFor } from './navigation.tsx';
import { type FrameProps, NavigationLinks, nameOf } from './Rail.tsx';
import { SignOut } from './SignOut.tsx';

/** The rail's content on a phone. It closes when a page is chosen. */
export const More = ({
  open,
  onClose,
  me,
  pathname,
  onFind,
  onHelp,
}: FrameProps & { open: boolean; onClose: () => void }) => {
  const [shown, setShown] = useState(pathname);
  useEffect(() => {
    if (shown === pathname) return;
    setShown(pathname);
    onClose();
  }, [shown, pathname, onClose]);
  return (
    <Dialog open={open} onClose={onClose} title={shell.more}>
      <div className={css.more}>
        <Button onClick={onFind}>{shell.find}</Button>
        <nav aria-label={shell.more}>
          <NavigationLinks groups={groupsFor(me.operations)} me={me} pathname={pathname} />
        </nav>
        <DisplayChoices onHelp={onHelp} />
        <div className={css.who}>
          <span>{nameOf(me)}</span>
          <SignOut />
        </div>
      </div>
    </Dialog>
  );
};
