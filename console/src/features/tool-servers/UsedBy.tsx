import type { UsedToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { LinkList } from '../../ui/index.ts';

/** The agents that use a server, as links to where they name it. */
export const UsedBy = ({ used_by: { total, agents } }: Pick<UsedToolServer, 'used_by'>) => (
  <LinkList
    links={agents.map(({ id, name }) => ({ href: to.agent(id, { tab: 'tools' }), label: name }))}
    more={total > agents.length ? words.more(total - agents.length) : null}
  />
);
