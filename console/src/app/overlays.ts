import { lazy } from 'react';
import { loadChanges } from '../api/mutation.ts';
import { preloadDialog } from '../ui/Dialog.tsx';

const loadPalette = () => import('./Palette.tsx');
const loadHelp = () => import('./Help.tsx');
const loadMore = () => import('./More.tsx');
const loadSignIn = () => import('../features/sign-in/SignInDialog.tsx');

/** The first page does not wait for what lies over pages: dialogs are not part of it. */
export const Palette = lazy(() => loadPalette().then(({ Palette }) => ({ default: Palette })));
export const Help = lazy(() => loadHelp().then(({ Help }) => ({ default: Help })));
export const More = lazy(() => loadMore().then(({ More }) => ({ default: More })));
export const SignInDialog = lazy(() => loadSignIn().then(({ SignInDialog }) => ({ default: SignInDialog })));

/** Loads them when the first page is there, so that the first Ctrl+K is quick. */
export const preloadOverlays = (): (() => void) => {
  const timer = setTimeout(() => {
    // A hidden page sends no requests.
    if (document.visibilityState !== 'visible') return;
    preloadDialog();
    void Promise.allSettled([loadPalette(), loadHelp(), loadMore(), loadSignIn(), loadChanges()]);
  }, 3_000);
  return () => clearTimeout(timer);
};
