import { useMe } from '../api/index.ts';
import { files as words } from '../text/en/files.ts';
import { ShortId } from '../ui/index.ts';
import type { FileOwner } from './owner.ts';

/** The maker of a file or a data frame: names of others are not part of the API's response. */
export const Maker = ({ id, owner }: { id: string; owner: FileOwner }) => {
  const { principal } = useMe();
  if (id === principal.id) return words.by(words.you);
  if (id === owner.agentId) return words.by(words.agent);
  return <ShortId id={id} />;
};
