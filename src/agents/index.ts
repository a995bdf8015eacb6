import type { Callbacks } from '../callbacks/index.ts';
import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Route } from '../http/index.ts';
import { createHooks } from '../lib/hooks.ts';
import type { Actor } from '../lib/principal.ts';
import type { ApprovalGuard } from '../tool-servers/index.ts';
import {
  type AgentHooks,
  checkUnused,
  createAgent,
  deleteAgent,
  lockAgent,
  lockToUpdate,
  updateAgent,
} from './agents.ts';
import { agentCalls } from './calls.ts';
import { approvalGuard } from './loosening.ts';
import { agentPageRoutes } from './page-routes.ts';
import { agentRoutes } from './routes.ts';
import { type Agent, type AgentChanges, listAgents } from './store.ts';
import { versionAttention } from './versions/attention.ts';
import { canaryLoop } from './versions/canary.ts';
import { type Check, listChecks, updateFigures } from './versions/check-store.ts';
import { endCheck, lockCheck } from './versions/checks.ts';
import { withDraft } from './versions/content.ts';
import { createPublicationEnds } from './versions/ends.ts';
import type { GateFigures, Gatekeeper, Verdict } from './versions/gatekeeper.ts';

export { agentCalls } from './calls.ts';
export { form as agentForm } from './routes.ts';
export * as agentSql from './sql.ts';
export { type Agent, defaultApprovalRole } from './store.ts';
export type { PinnedAgent } from './versions/pins.ts';
export type { NamedInRun } from './versions/store.ts';
export type { Check, GateFigures, Gatekeeper, Verdict };

/** Throws 412 with `agent_ids` while agents use the resource `id`: it must not be deleted. */
type CheckUnused = (tx: Tx, id: string) => Promise<void>;

interface Needs {
  callbacks: Pick<Callbacks, 'store'>;
  llms: { usedBy(agents: Pick<Calls, 'get'>): void };
  toolServers: { usedBy(agents: { checkUnused: CheckUnused; guard: ApprovalGuard }): void };
  semanticDataModels: { usedBy(agents: { checkUnused: CheckUnused }): void };
}

type Calls = typeof agentCalls;

/** Gates, for what runs their checks. */
interface Gates {
  /** Says what runs the checks. */
  keptBy(gatekeeper: Gatekeeper): void;
  /** Throws 412 with `agent_ids` while gates name the dataset. */
  checkDatasetUnused: CheckUnused;
  /** Returns the checks that have not ended. */
  listChecks(executor: Executor): Promise<Check[]>;
  /** Locks the agent of a check. Undefined if the check has ended, or has gone on, since it was read. */
  lockCheck: typeof lockCheck;
  /** Stores the figures of a locked check that goes on. */
  updateFigures(tx: Tx, id: string, figures: GateFigures): Promise<void>;
  /** Ends a locked check: its version is published if it passed. */
  endCheck(
    tx: Tx,
    locked: { agent: Agent; check: Check },
    verdict: Verdict,
    figures: GateFigures,
    reason?: string | null,
  ): Promise<void>;
}

export interface Agents extends Feature, Calls {
  gates: Gates;
  /** Returns the lines of the Overview on versions, since a time. */
  attention: typeof versionAttention;
  /** The operations of its pages, which the document lists with those of the application. */
  pageRoutes: readonly Route[];
  /** All agents, with the secrets of their callbacks. */
  list(executor: Executor): Promise<(Omit<Agent, 'callbacks'> & { callbacks: object[] })[]>;
  /** Throws 422 that names each unknown reference. The dataset of a gate may lack cases, which are imported afterwards. */
  create(tx: Tx, actor: Actor, fields: Parameters<typeof createAgent>[3]): Promise<Agent>;
  update(tx: Tx, actor: Actor, id: string, changes: AgentChanges): Promise<Agent>;
  /** Its schedules and scopes are deleted as well, and its open Work Items are cancelled. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Calls `hook` before the row of an agent is deleted, and the rows that depend on it. */
  beforeDelete(hook: AgentHooks['beforeDelete']): void;
  /** Calls `hook` after the row of an agent and the rows that depend on it are deleted. */
  onDelete(hook: AgentHooks['onDelete']): void;
  /** Calls `hook` after the settings or the execution of an agent changed: more Work Items may be claimed now. */
  onSettings(hook: AgentHooks['onSettings']): void;
}

/** Agents: Worker agents and conversational agents. */
export const createAgents = (
  { db, log }: Services,
  { callbacks, llms, toolServers, semanticDataModels }: Needs,
): Agents => {
  const beforeDelete = createHooks<Parameters<AgentHooks['beforeDelete']>>();
  const onDelete = createHooks<Parameters<AgentHooks['onDelete']>>();
  const onSettings = createHooks<Parameters<AgentHooks['onSettings']>>();
  const ends = createPublicationEnds(db, log);
  let gatekeeper: Gatekeeper | null = null;
  const hooks: AgentHooks = {
    callbacks: callbacks.store,
    beforeDelete: beforeDelete.call,
    onDelete: onDelete.call,
    onSettings: onSettings.call,
    gatekeeper: () => {
      if (!gatekeeper) throw new Error('nothing runs the checks of gates');
      return gatekeeper;
    },
    ended: ends.ended,
  };
  const { watcher } = ends;
  llms.usedBy(agentCalls);
  toolServers.usedBy({
    checkUnused: (tx, id) => checkUnused(tx, 'tool_server_ids', id),
    guard: approvalGuard,
  });
  semanticDataModels.usedBy({ checkUnused: (tx, id) => checkUnused(tx, 'semantic_data_model_ids', id) });
  return {
    ...agentCalls,
    tag: {
      name: 'Agents',
      description: 'Worker agents execute Work Items; conversational agents talk.',
    },
    routes: agentRoutes(db, hooks, ends),
    metrics: [ends.metric],
    start: async () => ends.listen(),
    loops: [
      canaryLoop({ db, log }),
      { role: 'api', start: () => watcher.start(), stop: () => watcher.stop(), pass: () => watcher.pass() },
    ],
    attention: versionAttention,
    gates: {
      keptBy: (given) => {
        gatekeeper = given;
      },
      checkDatasetUnused: (tx, id) => checkUnused(tx, 'gate', id),
      listChecks,
      lockCheck,
      updateFigures,
      endCheck: (tx, ...given) => endCheck(tx, hooks, ...given),
    },
    pageRoutes: agentPageRoutes(db),
    list: async (executor) => {
      const listed = [];
      for (const agent of (await listAgents(executor, everything)).map(withDraft)) {
        const secrets = await callbacks.store.settingsOf(executor, agent.callbacks);
        const shown = agent.callbacks.map(({ url, events }, i) => ({ url, events, ...secrets[i]! }));
        listed.push({ ...agent, callbacks: shown });
      }
      return listed;
    },
    create: (tx, actor, fields) => createAgent(tx, actor, hooks, fields, { mayLackCases: true }),
    update: async (tx, actor, id, changes) =>
      updateAgent(
        tx,
        actor,
        hooks,
        await lockToUpdate(tx, actor, hooks, id, changes, { mayLackCases: true }),
        changes,
      ),
    delete: async (tx, actor, id) => deleteAgent(tx, actor, hooks, await lockAgent(tx, id, 'delete')),
    beforeDelete: beforeDelete.add,
    onDelete: onDelete.add,
    onSettings: onSettings.add,
  };
};
