import { readPreference, writePreference } from '../base/preferences.ts';

/** A page that was visited. */
export interface Visit {
  href: string;
  label: string;
}

/** The last five pages of one thing that this browser visited. Lists are in the palette anyway. */
export const recentVisits = (): Visit[] => {
  try {
    const visits = JSON.parse(readPreference('recent') ?? '[]') as Visit[];
    return visits
      .filter(({ href, label }) => typeof label === 'string' && /^\/(?!\/)/.test(href))
      .slice(0, 5);
  } catch {
    return [];
  }
};

/** Remembers a visit, if the page is about one thing. */
export const recordVisit = (href: string, label: string): void => {
  if (label === '' || !/[0-9a-f]{8}-/.test(href)) return;
  const others = recentVisits().filter((visit) => visit.href !== href);
  writePreference('recent', JSON.stringify([{ href, label }, ...others].slice(0, 5)));
};
