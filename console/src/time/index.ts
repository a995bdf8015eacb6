export { useClock } from './clock.ts';
export { Duration } from './Duration.tsx';
export { fieldOfTime, timeOfField } from './fields.ts';
export { clockTime, dayOf, exactTime, fullTime, relativeTime, shortDay } from './format.ts';
export { Time } from './Time.tsx';
export { localZone, useZone, useZoneChoice, type ZoneChoice, zoneChoices, zoneLabel } from './zone.ts';
