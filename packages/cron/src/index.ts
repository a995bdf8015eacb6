export { type Cron, CronError, parseCron } from './cron.ts';
export { compileSchedule, type Explanation, Occurrences } from './occurrences.ts';
export { describeCron, type Preview, preview } from './preview.ts';
export { suggestExpression, suggestZone } from './suggestions.ts';
export { isZoneName, zoneNames, zoneRulesVersion } from './time-zones.ts';
export { openZone, shownOffset, type Transition, type Zone, ZoneError } from './zones.ts';
