import { useSyncExternalStore } from 'react';
import { readPreference, subscribePreferences, writePreference } from '../app/preferences.ts';

/** In which zone times are shown: the viewer's, UTC, or the zone of the schedule where there is one. */
export const zoneChoices = ['local', 'utc', 'schedule'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];

/** The viewer's zone, as the browser says. */
export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const readChoice = (): ZoneChoice =>
  zoneChoices.find((choice) => choice === readPreference('zone')) ?? 'local';

/** Returns the chosen way to show times, and the function that changes it. */
export const useZoneChoice = (): [ZoneChoice, (choice: ZoneChoice) => void] => [
  useSyncExternalStore(subscribePreferences, readChoice),
  (choice) => writePreference('zone', choice),
];

/** Returns the zone in which to show a time. `own` is the zone of the schedule that the time belongs to. */
export const useZone = (own?: string | null): string => {
  const [choice] = useZoneChoice();
  if (choice === 'utc') return 'UTC';
  return choice === 'schedule' && own ? own : localZone();
};

/** The short name of a zone: `Berlin`, `New York`, `UTC`. */
export const zoneLabel = (zone: string): string =>
  /^(UTC|Etc\/UTC|Etc\/GMT|GMT)$/.test(zone)
    ? 'UTC'
    : zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
