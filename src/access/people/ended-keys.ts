import { z } from 'zod';
import { id } from '../../http/index.ts';

/** A key that ended with the person or the key that made it. */
export interface EndedKey {
  id: string;
  name: string;
}

/** `end_made_keys` in a query. */
export const endMadeKeysQuery = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional();

/** Which keys a request ended. */
export const endedKeys = z.array(z.object({ id, name: z.string() }).meta({ id: 'EndedApiKey' }));

export const toEndedKeys = (keys: readonly EndedKey[]): z.input<typeof endedKeys> =>
  keys.map(({ id, name }) => ({ id, name }));

export const deletedWithKeys = z
  .object({
    ended_keys: endedKeys.describe('The keys that were made by what was deleted, and ended with it.'),
  })
  .meta({ id: 'DeletedWithKeys' });

/** The response of a deletion: null, which is a 204, if no key was ended and the client did not ask. */
export const afterDeletion = (
  ended: readonly EndedKey[],
  asked: boolean | undefined,
): z.input<typeof deletedWithKeys> | null =>
  ended.length === 0 && asked === undefined ? null : { ended_keys: toEndedKeys(ended) };
