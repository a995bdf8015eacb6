import { AsyncLocalStorage } from 'node:async_hooks';

/** Returns whose limits count: `Principal.rootId`. */
type RootOf = () => string | Promise<string>;

const acting = new AsyncLocalStorage<RootOf>();

/** Runs `fn`, and all that it starts, for the one whom `rootOf` names. */
export const actFor = <T>(rootOf: RootOf, fn: () => T): T => acting.run(rootOf, fn);

/** Resolves to the one for whom this runs; `platform` if the platform itself runs it. */
export const actingRoot = async (): Promise<string> => (await acting.getStore()?.()) ?? 'platform';
