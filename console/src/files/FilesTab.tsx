import { useUrlState } from '../routing/url-state.ts';
import { Files } from './Files.tsx';
import { Frames } from './Frames.tsx';
import { FrameView } from './FrameView.tsx';
import type { FileOwner } from './owner.ts';
import { QueryBox } from './QueryBox.tsx';

/** The tab of files and data frames, or the data frame that is open. */
export const FilesTab = ({ owner }: { owner: FileOwner }) => {
  const { frame } = useUrlState<{ frame?: string }>().search;
  return frame === undefined ? (
    <>
      <Files owner={owner} />
      <Frames owner={owner} />
    </>
  ) : (
    <>
      <FrameView key={frame} owner={owner} name={frame} />
      <QueryBox owner={owner} example={frame} />
    </>
  );
};
