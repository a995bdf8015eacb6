import type { RoleMappings } from '../access/index.ts';
import { audit } from '../audit/index.ts';
import { advisoryLock, type Database, sql, type Tx } from '../database/index.ts';
import type { Context } from '../http/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { mostFaults } from '../lib/text.ts';
import { readDocument, type WorkspaceDocument } from './document.ts';
import type { Entry } from './entries.ts';
import { exportDocument } from './export.ts';
import { at, faultsOf } from './faults.ts';
import type { Kind } from './kind.ts';
import {
  type Change,
  fingerprintOf,
  type Plan,
  planOf,
  type Question,
  secretsNeeded,
  shownChanges,
} from './plan.ts';
import { type Outcome, runPlan } from './run.ts';
import { checkScopes, type MissingScope, missingScopes } from './scopes.ts';
import { readState, requireUnique } from './state.ts';

export interface WorkspaceParts {
  db: Database;
  /** In an order in which each refers only to those before it. */
  kinds: readonly Kind[];
  roleMappings: RoleMappings;
}

export interface ShownPlan {
  fingerprint: string;
  changes: Change[];
  secrets_needed: string[];
  missing_scopes: MissingScope[];
}

export interface Request {
  document: unknown;
  prune: boolean;
  secrets: Record<string, string>;
  fingerprint?: string | undefined;
}

const verifiedAtOnce = 8;
/** Attempts of an application, when others change the workspace while connections are tried. */
const mostAttempts = 3;

class RolledBack extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super('rolled back');
    this.outcome = outcome;
  }
}

/** Items changed after they were verified. */
class OutOfDate extends Error {}

const noSecrets = new Map<string, string>();

const shownPlan = (plan: Plan, fingerprint: string, principal: Principal): ShownPlan => ({
  missing_scopes: missingScopes(plan, principal),
  fingerprint,
  changes: shownChanges(plan),
  secrets_needed: secretsNeeded(plan),
});

/** Each fault once, and not more than a client has to fix first. */
const refuse = (faults: readonly Fault[]): never => {
  const unique = new Map(faults.map((fault) => [`${fault.path} ${fault.message}`, fault]));
  throw unprocessable([...unique.values()].slice(0, mostFaults));
};

const missingFaults = ({ missing }: Plan): Fault[] =>
  missing.map(({ path, name }) => ({
    path,
    message: `the secret ${name} is missing; send it in \`secrets\``,
  }));

export const createWorkspaceRules = ({ db, kinds, roleMappings }: WorkspaceParts) => {
  const questionOf = async ({ document: given, prune, secrets }: Request) => {
    const { document, faults } = await readDocument(given);
    const question: Question = { document, prune, secrets: new Map(Object.entries(secrets)) };
    return { question, faults };
  };

  /** The plan with the secrets that were given, and the fingerprint of the one without. */
  const planIn = async (tx: Tx, question: Question) => {
    const state = await readState(tx, kinds);
    const plan = planOf(kinds, state, question);
    const secretless =
      question.secrets.size === 0 ? plan : planOf(kinds, state, { ...question, secrets: noSecrets });
    return { state, plan, fingerprint: fingerprintOf(secretless) };
  };

  /** The new and changed things that are verified; `key` identifies each. */
  const toVerify = (plan: Plan): { entry: Entry; verify: () => Promise<unknown>; key: string }[] =>
    plan.entries.flatMap((entry) => {
      const { verify } = entry.kind;
      const { item, changed, action } = entry;
      const isOther = action === 'create' || changed.has('configuration') || changed.has('settings');
      if (!verify || !item || !isOther) return [];
      return [{ entry, verify: () => verify(item), key: sha256(canonicalJson([entry.kind.kind, item])) }];
    });

  const verifyAll = async (plan: Plan): Promise<{ faults: Fault[]; keys: ReadonlySet<string> }> => {
    const all = toVerify(plan);
    const faults: Fault[] = [];
    for (let i = 0; i < all.length; i += verifiedAtOnce) {
      await Promise.all(
        all.slice(i, i + verifiedAtOnce).map(async ({ entry, verify }) => {
          await verify().catch((error: unknown) => {
            faults.push(...at(entry.path, faultsOf(error)));
          });
        }),
      );
    }
    return { faults, keys: new Set(all.map(({ key }) => key)) };
  };

  const auditApplication = async (tx: Tx, actor: Actor, { entries }: Plan, prune: boolean): Promise<void> => {
    const count = (action: Entry['action']) => entries.filter((entry) => entry.action === action).length;
    const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
    if (created + updated + deleted === 0) return;
    await audit(tx, actor, 'workspace.apply', null, { created, updated, deleted, prune });
  };

  return {
    /** The workspace as a document. Throws 422 if two things have one name. */
    export: (): Promise<WorkspaceDocument> =>
      db.tx(async (tx) => {
        // All statements see the same moment.
        await sql`set transaction isolation level repeatable read read only`.execute(tx);
        const state = await readState(tx, kinds);
        requireUnique(kinds, state);
        return exportDocument(kinds, state);
      }),

    /**
     * Plans an application. It is tried in a transaction that is rolled back, so that every rule of the API
     * counts. Throws 422 with every fault.
     */
    plan: async (actor: Actor, request: Request): Promise<ShownPlan> => {
      const { question, faults } = await questionOf(request);
      let shown: ShownPlan | undefined;
      const outcome = await db
        .tx(async (tx): Promise<never> => {
          await advisoryLock(tx, 'workspace');
          const { state, plan, fingerprint } = await planIn(tx, question);
          shown = shownPlan(plan, fingerprint, actor.principal);
          // The plan names the scopes that the key lacks, so everything after that is tried as well.
          const trying = { ...actor, principal: { ...actor.principal, scopes: null } };
          const { faults: refused, afterwards } = await runPlan(tx, trying, plan, state, roleMappings);
          throw new RolledBack({ faults: [...plan.faults, ...refused], afterwards });
        })
        .catch((error: unknown) => {
          if (error instanceof RolledBack) return error.outcome;
          throw error;
        });
      const all = [...faults, ...outcome.faults];
      return all.length > 0 ? refuse(all) : shown!;
    },

    /**
     * Applies the document in one transaction, after what is new of connections was tried. Throws 422 with every fault, and
     * 412 with the plan if it is not the one of `fingerprint`. Throws 403 with `missing_scopes` if the key may not change
     * all of that.
     */
    apply: async (
      { actor, transaction }: Pick<Context, 'actor' | 'transaction'>,
      request: Request,
    ): Promise<{ changes: Change[] }> => {
      const { question, faults } = await questionOf(request);
      let afterwards: Outcome['afterwards'] = new Map();

      const applyOnce = async (): Promise<{ changes: Change[] }> => {
        const before = await db.tx((tx) => planIn(tx, question));
        // Before anything is tried at another system.
        checkScopes(before.plan, actor.principal);
        const isFaulty = faults.length + before.plan.faults.length + before.plan.missing.length > 0;
        const verified = isFaulty ? { faults: [], keys: new Set<string>() } : await verifyAll(before.plan);
        return transaction(async (tx) => {
          await advisoryLock(tx, 'workspace');
          const { state, plan, fingerprint } = await planIn(tx, question);
          checkScopes(plan, actor.principal);
          const known = [...faults, ...plan.faults, ...missingFaults(plan), ...verified.faults];
          if (known.length === 0) {
            const { fingerprint: expected } = request;
            if (expected !== undefined && expected !== fingerprint) {
              throw new ApiError(
                'precondition_failed',
                'The workspace or the document is not what was planned. Look at the new plan, then apply it.',
                { plan: shownPlan(plan, fingerprint, actor.principal) },
              );
            }
            if (toVerify(plan).some(({ key }) => !verified.keys.has(key))) throw new OutOfDate();
          }
          const outcome = await runPlan(tx, actor, plan, state, roleMappings);
          const all = [...known, ...outcome.faults];
          if (all.length > 0) return refuse(all);
          afterwards = outcome.afterwards;
          await auditApplication(tx, actor, plan, question.prune);
          return { changes: shownChanges(plan) };
        });
      };

      for (let attempt = 1; ; attempt++) {
        try {
          const result = await applyOnce();
          await Promise.all([...afterwards.values()].map((fn) => fn()));
          return result;
        } catch (error) {
          if (!(error instanceof OutOfDate)) throw error;
          if (attempt === mostAttempts) {
            throw new ApiError(
              'precondition_failed',
              'Others change the workspace at the same time. Try again.',
            );
          }
        }
      }
    },
  };
};

export type WorkspaceRules = ReturnType<typeof createWorkspaceRules>;
