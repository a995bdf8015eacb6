import type { PublicAgent } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { versions as words } from '../../text/en/versions.ts';
import { Link } from '../../ui/index.ts';

/** Status above a form that changes a draft: which version runs, and how they differ. */
export const DraftStatus = ({ agent }: { agent: PublicAgent }) =>
  agent.release === 'manual' && (
    <p role="status">
      {words.editsDraft(agent.version)}{' '}
      <Link href={to('/agents/$agentId', { agentId: agent.id }, { tab: 'versions' })}>{words.compare}</Link>
    </p>
  );
