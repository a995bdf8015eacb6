import { lazy } from 'react';

/** The tab of files and data frames, loaded when it is opened. */
export const FilesTab = lazy(() => import('./FilesTab.tsx').then(({ FilesTab }) => ({ default: FilesTab })));
export { conversationOwner, workItemOwner } from './owner.ts';
