/**
 * Whether `name` is a zone or link of the IANA time zone database, in the spelling there. `Intl` cannot decide that: it
 * accepts abbreviations and any case, and rewrites links.
 */
export const isZoneName = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9+_/-]{0,99}$/.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
};
