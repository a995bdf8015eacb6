import { isIP } from 'node:net';
import type { Executor, Tx } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { createMembersFilter } from '../lib/egress-addresses.ts';
import { type ApiError, type Fault, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { SealedSettings } from '../lib/sealed-settings.ts';
import type { ChangedCallback, NewCallback } from './schemas.ts';
import { newSigningSecret } from './signature.ts';
import {
  type CallbackEvent,
  deleteCallbackRows,
  findCallback,
  insertCallback,
  removeCallbackRows,
} from './store.ts';

/** Part of a callback that is not secret, as the resource that has it stores and shows it. */
export interface Callback {
  /** Id that stays the same as long as the owner has the callback. */
  id: string;
  /** Id of its present row, if it was changed: a row never changes. */
  row_id?: string;
  url: string;
  events: CallbackEvent[];
  header_names: string[];
  secret_set: boolean;
}

/** A callback in the response of the request that created it. */
type CreatedCallback = Callback & { secret?: string };

/** Callback of a create body or of an update body. */
type GivenCallback = NewCallback & Partial<Pick<ChangedCallback, 'id'>>;

/** Secret part of a callback. */
export interface CallbackSettings {
  secret: string;
  headers: Record<string, string>;
}

export const defaultEvents: CallbackEvent[] = [
  'work_item.needs_review',
  'work_item.indeterminate',
  'work_item.completed',
  'work_item.error',
  'work_item.cancelled',
];

type Owner = { agentId: string } | { workItemId: string };

/** A list as it is stored with its owner, and as the response shows it: with the secrets that were generated. */
interface StoredCallbacks {
  stored: Callback[];
  shown: CreatedCallback[];
}

/** The callbacks of agents and Work Items. */
export interface CallbackStore {
  /** Returns the secret part of each callback, in their order. */
  settingsOf(executor: Executor, callbacks: readonly Callback[]): Promise<CallbackSettings[]>;
  sealed: SealedSettings<CallbackSettings>;
  /** Adds callbacks to their new owner. */
  add(tx: Tx, owner: Owner, given: readonly NewCallback[], actor: Actor): Promise<StoredCallbacks>;
  /**
   * The 422 for callbacks that the actor may not give: a member gives no address that is not public. Null if there is none.
   * Callbacks of `before` that are left may stay.
   */
  refusalOf(actor: Actor, given: readonly GivenCallback[], before?: readonly Callback[]): ApiError | null;
  /** Replaces the callbacks of the locked owner. Those that `given` names by their id keep what it leaves out. */
  replace(
    tx: Tx,
    owner: Owner,
    before: readonly Callback[],
    given: readonly ChangedCallback[],
    actor: Actor,
  ): Promise<StoredCallbacks>;
  /** Removes those of an agent that is deleted. What was recorded for them is still delivered. */
  removeOf(tx: Tx, agentId: string): Promise<void>;
}

const keptOf = (before: readonly Callback[], { id }: GivenCallback): Callback | undefined =>
  before.find((callback) => callback.id === id);

/** Returns whether requests go on as someone else decided: to the same address, with the same headers. */
const isAsBefore = (kept: Callback | undefined, given: GivenCallback): kept is Callback =>
  kept?.url === given.url && given.headers === undefined;

const isMember = ({ principal }: Actor): boolean => principal.role === 'member';

const originOf = (url: string): string => new URL(url).origin;

const rowIdOf = ({ id, row_id = id }: Callback): string => row_id;

/** The faults of ids. One that the owner does not have is no new callback: its secret would be another, unnoticed. */
const idFaults = (before: readonly Callback[], given: readonly ChangedCallback[]): Fault[] =>
  given.flatMap(({ id }, i): Fault[] => {
    const path = `callbacks[${i}].id`;
    if (id === undefined) return [];
    if (given.findIndex((other) => other.id === id) < i) return [{ path, message: 'is there twice' }];
    if (before.some((callback) => callback.id === id)) return [];
    return [{ path, message: 'is none of the present callbacks; leave it out for a new one' }];
  });

/**
 * Throws 422 for ids that are not those of the owner, and if stored headers would go to another address, or what the
 * stored secret signs to another origin, which only someone who knows them may decide.
 */
export const checkChangedCallbacks = (
  before: readonly Callback[],
  given: readonly ChangedCallback[],
): void => {
  const faults = given.flatMap((one, i): Fault[] => {
    const kept = keptOf(before, one);
    const moved = kept && kept.url !== one.url && kept.header_names.length > 0 && !one.headers;
    const elsewhere = kept && originOf(kept.url) !== originOf(one.url) && !one.secret;
    return [
      ...(moved
        ? [{ path: `callbacks[${i}].headers`, message: 'must be sent again with another `url`' }]
        : []),
      ...(elsewhere
        ? [{ path: `callbacks[${i}].secret`, message: 'must be given again with a `url` of another origin' }]
        : []),
    ];
  });
  const all = [...idFaults(before, given), ...faults];
  if (all.length > 0) throw unprocessable(all);
};

/** `forMembers` says which addresses callbacks of members may reach. */
export const createCallbackStore = (
  vault: Vault,
  forMembers: (address: string) => boolean = createMembersFilter([]),
): CallbackStore => {
  const sealed = new SealedSettings<CallbackSettings>(vault, 'callbacks', []);

  const insert = async (
    tx: Tx,
    owner: Owner,
    { url, events = defaultEvents, headers = {}, secret }: NewCallback,
    { id, byMember = false }: { id?: string; byMember?: boolean } = {},
  ): Promise<{ callback: Callback; shown: CreatedCallback }> => {
    const rowId = newId();
    const settings = { secret: secret ?? newSigningSecret(), headers };
    await insertCallback(tx, {
      id: rowId,
      agent_id: 'agentId' in owner ? owner.agentId : null,
      work_item_id: 'workItemId' in owner ? owner.workItemId : null,
      url,
      origin: new URL(url).origin,
      events,
      given_by_member: byMember,
      settings: sealed.seal(rowId, settings),
    });
    const ids = id === undefined ? { id: rowId } : { id, row_id: rowId };
    const callback = { ...ids, url, events, header_names: Object.keys(headers), secret_set: true };
    return { callback, shown: secret ? callback : { ...callback, secret: settings.secret } };
  };

  const listOf = (made: readonly { callback: Callback; shown: CreatedCallback }[]): StoredCallbacks => ({
    stored: made.map(({ callback }) => callback),
    shown: made.map(({ shown }) => shown),
  });

  const replaceOne = async (
    tx: Tx,
    owner: Owner,
    kept: Callback | undefined,
    { id: _, ...given }: ChangedCallback,
    actor: Actor,
  ) => {
    if (!kept) return insert(tx, owner, given, { byMember: isMember(actor) });
    const events = given.events ?? kept.events;
    const isSame = kept.url === given.url && `${kept.events}` === `${events}`;
    if (isSame && !given.headers && !given.secret) return { callback: kept, shown: kept };
    const row = (await findCallback(tx, rowIdOf(kept)))!;
    const settings = sealed.open(row);
    const { headers = settings.headers, secret = settings.secret } = given;
    const byMember = isAsBefore(kept, given) ? row.given_by_member : isMember(actor);
    return insert(tx, owner, { url: given.url, events, headers, secret }, { id: kept.id, byMember });
  };

  return {
    sealed,
    settingsOf: async (executor, callbacks) => {
      const found = [];
      for (const one of callbacks) found.push(sealed.open((await findCallback(executor, rowIdOf(one)))!));
      return found;
    },
    add: async (tx, owner, given, actor) => {
      const made = [];
      const byMember = isMember(actor);
      for (const one of given) made.push(await insert(tx, owner, one, { byMember }));
      return listOf(made);
    },
    refusalOf: (actor, given, before = []) => {
      if (!isMember(actor)) return null;
      const faults = given.flatMap((one, i): Fault[] => {
        if (isAsBefore(keptOf(before, one), one)) return [];
        const host = new URL(one.url).hostname.replace(/^\[(.*)\]$/, '$1');
        if (isIP(host) === 0 || forMembers(host)) return [];
        const message =
          'is an address of this machine or of a private network, which members may not give (EGRESS_MEMBERS_ALLOW)';
        return [{ path: `callbacks[${i}].url`, message }];
      });
      return faults.length > 0 ? unprocessable(faults) : null;
    },
    replace: async (tx, owner, before, given, actor) => {
      const made = [];
      for (const one of given) made.push(await replaceOne(tx, owner, keptOf(before, one), one, actor));
      const all = listOf(made);
      const kept = all.stored.map(rowIdOf);
      if ('agentId' in owner) await removeCallbackRows(tx, owner.agentId, kept);
      else await deleteCallbackRows(tx, owner.workItemId, kept);
      return all;
    },
    removeOf: (tx, agentId) => removeCallbackRows(tx, agentId, []),
  };
};
