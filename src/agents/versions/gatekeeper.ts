import type { Tx } from '../../database/index.ts';
import type { Actor } from '../../lib/principal.ts';
import type { Gate } from '../gate.ts';
import type { Agent } from '../store.ts';

/** The part of a check that is not of agents: what runs both versions on the dataset and compares them. */

/** The figures of a check, as they are stored and shown. Those that are not known yet, or never, are null. */
export interface GateFigures {
  /** Cases that were scored in both versions. */
  cases: number | null;
  before: number | null;
  after: number | null;
  drop: number | null;
  p_value: number | null;
  detectable_drop: number | null;
  /** Trials without a score, of both versions. */
  excluded_trials: number | null;
  /** The candidate's, the published version's, and its second one if there was one. */
  experiment_ids: string[];
  failing_cases: { case_id: string; name: string; before: number; after: number }[];
}

export type Verdict = 'passed' | 'blocked' | 'inconclusive';

/** A check that begins, of a version of the locked agent. */
interface NewCheck {
  publicationId: string;
  agent: Agent;
  gate: Gate;
  candidate: number;
}

export interface Gatekeeper {
  /**
   * Keeps the dataset of the gate from being deleted until the transaction ends. Throws 422 if an agent of the mode cannot
   * have it. `mayLackCases`: the cases are imported afterwards.
   */
  lockGate(tx: Tx, mode: Agent['mode'], gate: Gate, options: { mayLackCases: boolean }): Promise<void>;
  /** Returns what the verdict depends on besides the gate and the content of both versions. */
  readBasis(tx: Tx, check: Omit<NewCheck, 'publicationId'>): Promise<object>;
  /** Starts the trials of a check. Returns its figures so far, and a verdict that needs no trials. Throws 400 and 422. */
  begin(tx: Tx, actor: Actor, check: NewCheck): Promise<{ figures: GateFigures; verdict: Verdict | null }>;
  /** Cancels the trials that have not ended. */
  cancel(tx: Tx, actor: Actor, experimentIds: readonly string[]): Promise<void>;
}
