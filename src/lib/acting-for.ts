import { AsyncLocalStorage } from 'node:async_hooks';
import type { Who } from './principal.ts';

/** Who a part of the platform works for. */
export interface Acting {
  /** Returns whose limits count: `Principal.rootId`. */
  root(): string | Promise<string>;
  /** Returns the one who asked for it. */
  who(): Pick<Who, 'kind' | 'id'> | Promise<Pick<Who, 'kind' | 'id'>>;
}

/** The run that something is a part of: what calls of models are charged to besides the one who asked. */
export interface ActingRun {
  agentId: string;
  agentVersion: number | null;
  workItemId: string | null;
  /** The run of a conversation. */
  runId: string | null;
  experimentId: string | null;
  scheduleId: string | null;
  triggerId: string | null;
}

const acting = new AsyncLocalStorage<Acting>();
const runs = new AsyncLocalStorage<ActingRun>();

/** Runs `fn`, and all that it starts, for `who`. */
export const actFor = <T>(who: Acting, fn: () => T): T => acting.run(who, fn);

/** Resolves to the one for whom this runs; `platform` if the platform itself runs it. */
export const actingRoot = async (): Promise<string> => (await acting.getStore()?.root()) ?? 'platform';

/** Resolves to the one who asked for this; the platform if no one did. */
export const actingPrincipal = async (): Promise<Pick<Who, 'kind' | 'id'>> =>
  (await acting.getStore()?.who()) ?? { kind: 'system', id: 'system' };

/** Runs `fn`, and all that it starts, as a part of `run`. */
export const actInRun = <T>(run: ActingRun, fn: () => T): T => runs.run(run, fn);

/** The run that this is a part of; null outside of any. */
export const actingRun = (): ActingRun | null => runs.getStore() ?? null;
