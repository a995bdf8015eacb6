import { readPreference, writePreference } from '../base/preferences.ts';

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

export const recordVisit = (href: string, label: string): void => {
  if (label === '' || !/[0-9a-f]{8}-/.test(href)) return;
  const others = recentVisits().filter((visit) => visit.href !== href);
  writePreference('recent', JSON.stringify([{ href, label }, ...others].slice(0, 5)));
};
