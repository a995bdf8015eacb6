import type { TriggerEvent, TriggerVersion } from '../../../api/types.gen.ts';

/** The changes of a trigger by the event that they stand above, and those before the oldest event. Both newest first. */
export const changesBetween = (
  events: readonly Pick<TriggerEvent, 'id' | 'at'>[],
  changes: readonly TriggerVersion[],
): { above: ReadonlyMap<string, TriggerVersion[]>; below: TriggerVersion[] } => {
  const above = new Map<string, TriggerVersion[]>();
  let left = [...changes];
  for (const { id, at } of events) {
    const later = left.filter((change) => Date.parse(change.at) >= Date.parse(at));
    if (later.length > 0) above.set(id, later);
    left = left.slice(later.length);
  }
  return { above, below: left };
};
