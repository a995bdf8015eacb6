import { to } from '../routing/to.ts';
import { common } from '../text/en/common.ts';
import { LinkList, Muted } from '../ui/index.ts';

/** The agents that use a thing, as links to the tab that names it. `lead` is above them, `none` is said if there are none. */
export const UsedByAgents = ({
  used_by: { total, agents },
  tab,
  lead,
  none,
}: {
  used_by: { total: number; agents: readonly { id: string; name: string }[] };
  tab: 'instructions' | 'tools';
  lead?: string;
  none?: string;
}) =>
  total === 0 ? (
    none && <Muted small>{none}</Muted>
  ) : (
    <>
      {lead && <p>{lead}</p>}
      <LinkList
        links={agents.map(({ id, name }) => ({
          href: to('/agents/$agentId', { agentId: id }, { tab }),
          label: name,
        }))}
        more={total > agents.length ? common.more(total - agents.length) : null}
      />
    </>
  );
