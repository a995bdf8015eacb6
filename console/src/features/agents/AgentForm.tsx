import type { ReactNode } from 'react';
import { type Body, type Edit, type LoadState, useEditForm, useOperation } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { Loaded, useDisabledReason } from '../../ui/index.ts';

export const LoadedAgent = ({
  agentId,
  children,
}: {
  agentId: string;
  children: (agent: PublicAgent, got: LoadState<PublicAgent>) => ReactNode;
}) => {
  const got = useOperation('getAgent', { agent_id: agentId });
  return (
    <Loaded got={got} operation="getAgent" list={{ label: pages.agents, href: to('/agents') }}>
      {(agent) => children(agent, got)}
    </Loaded>
  );
};

export const useAgentForm = <V extends object>(
  agent: PublicAgent,
  got: LoadState<PublicAgent>,
  toValues: (agent: PublicAgent) => V,
  toBody: (values: V) => Body<'updateAgent'>,
  /** Selects what is kept of the response, which may show a secret once. */
  keep: (agent: PublicAgent) => PublicAgent = (saved) => saved,
): Edit<PublicAgent, V> =>
  useEditForm({
    read: 'getAgent',
    change: 'updateAgent',
    params: { agent_id: agent.id },
    loaded: { body: agent, etag: got.etag },
    toValues,
    toBody,
    keep,
    disabledReason: useDisabledReason('updateAgent'),
  });
