import type { UsedLlmConfiguration } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { LinkList } from '../../ui/index.ts';

type Uses = Pick<UsedLlmConfiguration, 'used_by'>;

/** The agents that name a configuration, as links. */
export const UsedBy = ({ used_by: { total, agents } }: Uses) => (
  <LinkList
    links={agents.map(({ id, name }) => ({ href: to.agent(id), label: name }))}
    more={total > agents.length ? words.more(total - agents.length) : null}
  />
);

/** How many agents use it, and whether it is the default, as sentences. */
export const usesOf = ({
  is_default,
  used_by,
}: Pick<UsedLlmConfiguration, 'is_default' | 'used_by'>): string => {
  const using = used_by.total + used_by.by_default;
  return [is_default && words.isDefault, using === 0 ? words.unused : words.uses(using)]
    .filter(Boolean)
    .join(' ');
};
