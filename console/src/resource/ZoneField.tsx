import { useState } from 'react';
import { type FieldProps, useOperation } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { scheduleForm as words } from '../text/en/schedule-form.ts';
import { Select } from '../ui/index.ts';

/** The offset of a zone at present as the browser knows it: `+01:00`. Null for a zone that it does not know. */
const offsetNow = (zone: string): string | null => {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = parts.formatToParts(Date.now()).find(({ type }) => type === 'timeZoneName')?.value;
    return name === undefined ? null : name === 'GMT' ? '+00:00' : name.replace('GMT', '');
  } catch {
    return null;
  }
};

/** The zone in which the times hold. The names are the server's, and are asked for when someone goes to the field. */
export const ZoneField = ({ field }: { field: FieldProps<string> }) => {
  const [used, setUsed] = useState(false);
  const [typed, setTyped] = useState('');
  // The name of the chosen zone is what the field shows, and no search.
  const q = typed === field.value ? '' : typed;
  const query = { q, limit: 100 };
  const { data, loading } = useOperation(
    'listTimeZones',
    {},
    { query, enabled: used, keepPrevious: true, staleTime: 600_000 },
  );
  const found = data?.data ?? [];
  const own = found.some(({ name }) => name === field.value)
    ? []
    : [{ value: field.value, label: field.value }];
  const offset = offsetNow(field.value);
  return (
    <Select
      {...field}
      onChange={(zone) => zone !== null && field.onChange(zone)}
      label={words.zone}
      options={[...found.map((zone) => ({ value: zone.name, label: zone.name, note: zone.offset })), ...own]}
      onSearch={setTyped}
      onOpen={() => setUsed(true)}
      hint={offset === null ? undefined : words.zoneNow(offset)}
      nothing={loading ? common.loading : words.zoneNothing}
      required
    />
  );
};
