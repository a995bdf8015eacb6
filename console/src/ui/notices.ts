import { useSyncExternalStore } from 'react';

/** Something that was done, said at the bottom of the page for a few seconds. */
export interface NoticeEntry {
  id: number;
  text: string;
  /** Link to it. */
  link?: { label: string; href: string } | undefined;
}

let entries: readonly NoticeEntry[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

const set = (next: readonly NoticeEntry[]) => {
  entries = next;
  for (const listener of listeners) listener();
};

export const dismissNotice = (id: number): void => set(entries.filter((entry) => entry.id !== id));

/**
 * Says that something was done: "Schedule paused". Errors are never said only here: they stay where the person works
 * (`Problem`).
 */
export const notify = (text: string, link?: NoticeEntry['link']): void => {
  lastId += 1;
  const id = lastId;
  set([...entries.slice(-2), { id, text, link }]);
  setTimeout(() => dismissNotice(id), 8_000);
};

export const useNotices = (): readonly NoticeEntry[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => entries,
  );
