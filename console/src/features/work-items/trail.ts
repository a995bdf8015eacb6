import { to } from '../../routing/to.ts';

interface Trail {
  href: string;
  ids: readonly string[];
}

const key = 'work-items-trail';

/** Remembers the rows of a list in this tab, so that the page of a Work Item leads to the previous and the next one. */
export const rememberTrail = (trail: Trail): void => {
  try {
    sessionStorage.setItem(key, JSON.stringify(trail));
  } catch {
    // Storage is not allowed: there is no previous and no next one.
  }
};

const readTrail = (): Trail | null => {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Trail | null;
  } catch {
    return null;
  }
};

/** Returns the list that `id` came from, and its neighbors in it. */
export const trailOf = (id: string): { list: string; previous: string | null; next: string | null } => {
  const trail = readTrail();
  const at = trail?.ids.indexOf(id) ?? -1;
  if (!trail || at < 0) return { list: to('/work-items'), previous: null, next: null };
  const href = (other: string | undefined) =>
    other === undefined ? null : to('/work-items/$workItemId', { workItemId: other });
  return { list: trail.href, previous: href(trail.ids[at - 1]), next: href(trail.ids[at + 1]) };
};
