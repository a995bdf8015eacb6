import type { Occurrences } from '@agent-platform/cron';
import type { DefinitionVersion } from '../definition-store.ts';
import { occurrencesOfStored } from '../occurrences.ts';

const active = (version: DefinitionVersion | undefined): Occurrences | null =>
  version?.enabled ? occurrencesOfStored(version) : null;

/** Returns the time at which the version after the `k`th takes over. */
const endOf = (versions: readonly DefinitionVersion[], k: number): number =>
  versions[k + 1]?.from_at.getTime() ?? Number.POSITIVE_INFINITY;

/** The last nominal time before `at`, by the version that held then; null if the versions have none. Oldest first. */
export const nominalBefore = (versions: readonly DefinitionVersion[], at: number): number | null => {
  for (let k = versions.length - 1; k >= 0; k--) {
    const begin = versions[k]!.from_at.getTime();
    if (begin >= at) continue;
    const found = active(versions[k])?.previous(Math.min(at - 1, endOf(versions, k)));
    if (found !== null && found !== undefined && found > begin) return found;
  }
  return null;
};

/** The first nominal time after `at`, by the version that held or holds then; null if the versions have none. */
export const nominalAfter = (versions: readonly DefinitionVersion[], at: number): number | null => {
  for (const [k, version] of versions.entries()) {
    const end = endOf(versions, k);
    if (end <= at) continue;
    const found = active(version)?.next(Math.max(at, version.from_at.getTime()));
    if (found !== null && found !== undefined && found <= end) return found;
  }
  return null;
};
