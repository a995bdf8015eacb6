import { numberedName } from '../lib/text.ts';
import type { Entry } from './entries.ts';
import type { State } from './state.ts';

/** The field of `metadata` that has the key of a schedule. */
export const keyField = 'workspace_key';
export const maxKey = 200;

interface Keyed {
  metadata: Record<string, unknown>;
  work_item_name: string | null;
}

export const storedKey = ({ metadata }: Pick<Keyed, 'metadata'>): string | undefined => {
  const key = metadata[keyField];
  return typeof key === 'string' && key !== '' && [...key].length <= maxKey ? key : undefined;
};

/**
 * The keys of the schedules of one agent, the oldest first: the stored one, else the name of the Work Items, else its
 * place among all. One that another has already gets a number.
 */
export const keysOf = (rows: readonly Keyed[]): string[] => {
  const taken = new Set(rows.flatMap((row) => storedKey(row) ?? []));
  return rows.map((row, i) => {
    const stored = storedKey(row);
    if (stored !== undefined) return stored;
    const key = numberedName(row.work_item_name || `schedule-${i + 1}`, (one) => taken.has(one));
    taken.add(key);
    return key;
  });
};

/**
 * The key of a schedule that is not stored follows from the others. If a change would give one that stays another key, its
 * key is stored.
 */
export const storeKeys = (entries: readonly Entry[], state: State): void => {
  const schedules = entries.filter(({ kind }) => kind.kind === 'schedule');
  const byAgent = Map.groupBy(schedules, ({ found, item }) => String((item ?? found?.item)?.agent));
  for (const [agent, own] of byAgent) {
    if (own.every(({ action }) => action === 'unchanged')) continue;
    const entryOf = new Map(own.flatMap((entry) => (entry.found ? [[entry.found.id, entry]] : [])));
    for (;;) {
      const staying = state
        .get('schedule')!
        .filter(({ item, id }) => item.agent === agent && entryOf.get(id)?.action !== 'delete');
      const keys = keysOf(
        staying.map(({ id, item, keyIsStored }) => {
          const entry = entryOf.get(id);
          const isStored = keyIsStored || entry?.action === 'update';
          const work_item_name = (entry?.item ?? item).work_item_name as string | null;
          return { work_item_name, metadata: isStored ? { [keyField]: item.key } : {} };
        }),
      );
      const shifted = staying.findIndex(
        ({ id, item }, i) => entryOf.get(id)?.action === 'unchanged' && keys[i] !== item.key,
      );
      if (shifted === -1) break;
      const entry = entryOf.get(staying[shifted]!.id)!;
      entry.action = 'update';
      entry.changed = new Set(['metadata']);
      entry.fields = [{ path: `metadata.${keyField}`, from: null, to: staying[shifted]!.item.key }];
    }
  }
};
