import type { ReactNode } from 'react';
import { type Edit, type Got, path, request, useEditForm, useGet, usePermission } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { pages } from '../../text/en/pages.ts';
import { Loaded, permissionReason } from '../../ui/index.ts';

/** Loads an agent for a form that changes it. */
export const LoadedAgent = ({
  agentId,
  children,
}: {
  agentId: string;
  children: (agent: PublicAgent, got: Got<PublicAgent>) => ReactNode;
}) => {
  const got = useGet<PublicAgent>(path`/api/v2/agents/${agentId}`);
  return (
    <Loaded got={got} operation="getAgent" list={{ label: pages.agents, href: to.agents() }}>
      {(agent) => children(agent, got)}
    </Loaded>
  );
};

/** The state of a form that changes a part of an agent. */
export const useAgentForm = <V extends object>(
  agent: PublicAgent,
  got: Got<PublicAgent>,
  toValues: (agent: PublicAgent) => V,
  toBody: (values: V) => object,
  /** Returns what is kept of the response, which may show a secret once. */
  keep: (agent: PublicAgent) => PublicAgent = (saved) => saved,
): Edit<PublicAgent, V> => {
  const address = path`/api/v2/agents/${agent.id}`;
  return useEditForm({
    path: address,
    loaded: { body: agent, etag: got.etag },
    toValues,
    save: async (values, ifMatch) => {
      const reply = await request<PublicAgent>('PATCH', address, { body: toBody(values), ifMatch });
      return { ...reply, body: keep(reply.body) };
    },
    disabledReason: permissionReason(usePermission('updateAgent')),
    invalidates: ['/app/api/agents'],
  });
};
