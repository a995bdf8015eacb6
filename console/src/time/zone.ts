import { useSyncExternalStore } from 'react';
import { readPreference, subscribePreferences, writePreference } from '../base/preferences.ts';

/** The zone in which times are shown: the viewer's, UTC, or that of the schedule where there is one. */
export const zoneChoices = ['local', 'utc', 'schedule'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];

let local: { zone: string; readAt: number } | undefined;

/**
 * The viewer's zone, as the browser says. It is asked once a second at most: each answer takes 0.1 ms, which a list of
 * 150 times would feel, and a traveller's zone changes.
 */
export const localZone = (): string => {
  const now = performance.now();
  if (!local || now - local.readAt > 1_000) {
    local = { zone: new Intl.DateTimeFormat().resolvedOptions().timeZone, readAt: now };
  }
  return local.zone;
};

const readChoice = (): ZoneChoice =>
  zoneChoices.find((choice) => choice === readPreference('zone')) ?? 'local';

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
