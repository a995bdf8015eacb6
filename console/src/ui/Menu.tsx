import { lazy, Suspense, useState } from 'react';
import { MenuButton, type MenuProps } from './MenuButton.tsx';

const Frame = lazy(() => import('./MenuFrame.tsx').then(({ MenuFrame }) => ({ default: MenuFrame })));

/** A menu behind a button. What it needs is loaded when the button is first used, so that a long list costs little. */
export const Menu = ({ entries, ...button }: MenuProps) => {
  const [used, setUsed] = useState(false);
  const closed = <MenuButton {...button} aria-expanded={false} onClick={() => setUsed(true)} />;
  return used ? (
    <Suspense fallback={closed}>
      <Frame {...button} entries={entries} />
    </Suspense>
  ) : (
    closed
  );
};
