import { sha256 } from '../../lib/crypto.ts';
import type { Role } from '../../lib/principal.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import {
  type Agent,
  type AgentChanges,
  type AgentFields,
  agents,
  type Content,
  contentOf,
  defaultApprovalRole,
  unversioned,
} from '../store.ts';

const isUnversioned = (name: string): boolean => (unversioned as readonly string[]).includes(name);

/** Content as it is shown: the fields of an agent that a version has. */
export type ShownContent = Omit<AgentFields, (typeof unversioned)[number] | 'approval_role' | 'settings'> & {
  approval_role: Role;
  settings: Omit<AgentFields['settings'], 'max_concurrency'>;
};

/** Returns the agent with this content in place of the published one; null: as it is. */
export const withContent = (agent: Agent, content: Content | null): Agent => {
  if (content === null) return agent;
  const { settings, approval_role, ...fields } = agents.readSome(content);
  return {
    ...agent,
    ...fields,
    callbacks: agent.callbacks,
    approval_role: approval_role ?? defaultApprovalRole[agent.mode],
    settings: { ...agent.settings, ...settings },
  };
};

/** Returns the agent as clients see and change it: with its draft. */
export const withDraft = (agent: Agent): Agent => withContent(agent, agent.draft);

/** Returns the content of the agent as it is shown. */
export const shownContent = (agent: Agent): ShownContent => {
  const { max_concurrency: _published, ...settings } = agent.settings;
  const names = Object.keys(agents.fields).filter((name) => !isUnversioned(name));
  const fields = Object.fromEntries(names.map((name) => [name, agent[name as keyof Agent]]));
  return { ...fields, settings } as ShownContent;
};

/** Returns the SHA-256 of content in its canonical form (RFC 8785), in hex. */
export const hashOf = (content: ShownContent): string => sha256(rfc8785(content));

/** Returns the changes of what no version has. */
export const unversionedChanges = ({ settings, ...changes }: AgentChanges): AgentChanges => ({
  ...Object.fromEntries(Object.entries(changes).filter(([name]) => isUnversioned(name))),
  ...(settings?.max_concurrency === undefined
    ? {}
    : { settings: { max_concurrency: settings.max_concurrency } }),
});

/** Returns what content is after the changes. */
export const changedContent = (content: Content, changes: AgentChanges): Content =>
  contentOf(agents.toRow(agents.merge(agents.readSome(content), changes)));

/** Returns changes that write content, and what no version has of other changes. */
export const changesTo = (content: Content, others: AgentChanges): AgentChanges => {
  const fields = agents.readSome(content) as AgentChanges;
  const kept = unversionedChanges(others);
  return { ...fields, ...kept, settings: { ...fields.settings, ...kept.settings } };
};
