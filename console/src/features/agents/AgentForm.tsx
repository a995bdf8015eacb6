import type { ReactNode } from 'react';
import type { EditForm, Got } from '../../api/index.ts';
import { path, request, useEditForm, useGet } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { Conflict, type Difference, Loaded, notify } from '../../ui/index.ts';

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
): EditForm<PublicAgent, V> => {
  const address = path`/api/v2/agents/${agent.id}`;
  return useEditForm({
    path: address,
    loaded: { body: agent, etag: got.etag },
    toValues,
    save: async (values, ifMatch) => {
      const reply = await request<PublicAgent>('PATCH', address, { body: toBody(values), ifMatch });
      notify(words.saved);
      return reply;
    },
    invalidates: ['/app/api/agents'],
  });
};

/** Someone else changed the agent first: both versions, and the choice. */
export const AgentConflict = <V extends object>({
  edit: { form, theirs, keepTheirs, writeMine, later },
  labels,
}: {
  edit: EditForm<PublicAgent, V>;
  labels: Partial<Record<keyof V & string, string>>;
}) => {
  const show = (value: unknown): string =>
    typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  const differences: Difference[] = theirs
    ? (Object.keys(labels) as (keyof V & string)[])
        .filter((name) => show(theirs[name]) !== show(form.values[name]))
        .map((name) => ({
          label: labels[name]!,
          theirs: show(theirs[name]),
          mine: show(form.values[name]),
        }))
    : [];
  return (
    <Conflict
      open={theirs !== null}
      differences={differences}
      onKeepTheirs={keepTheirs}
      onWriteMine={() => void writeMine()}
      onClose={later}
      busy={form.busy}
    />
  );
};
