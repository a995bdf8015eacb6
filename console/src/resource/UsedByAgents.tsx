import { to } from '../app/addresses.ts';
import { common } from '../text/en/common.ts';
import { LinkList } from '../ui/index.ts';

/** The agents that use a thing, as links to the tab that names it. */
export const UsedByAgents = ({
  used_by: { total, agents },
  tab,
}: {
  used_by: { total: number; agents: readonly { id: string; name: string }[] };
  tab: 'instructions' | 'tools';
}) => (
  <LinkList
    links={agents.map(({ id, name }) => ({ href: to.agent(id, { tab }), label: name }))}
    more={total > agents.length ? common.more(total - agents.length) : null}
  />
);
