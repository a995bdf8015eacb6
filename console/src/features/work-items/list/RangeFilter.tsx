import { useState } from 'react';
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { exactTime, fieldOfTime, timeOfField, useZone } from '../../../time/index.ts';
import { ActionDialog, FilterChoice, TextField } from '../../../ui/index.ts';

const hour = 3_600_000;
const ranges = { hour, day: 24 * hour, week: 168 * hour, month: 720 * hour } as const;
type RangeName = keyof typeof ranges;
const names = Object.keys(ranges) as RangeName[];

interface Range {
  from: string | undefined;
  to: string | undefined;
}

const fromField = (value: string): string | undefined => (value === '' ? undefined : timeOfField(value));

const Between = ({
  label,
  range,
  onApply,
  onClose,
}: {
  label: string;
  range: Range;
  onApply: (range: Range) => void;
  onClose: () => void;
}) => {
  const [from, setFrom] = useState(fieldOfTime(range.from));
  const [to, setTo] = useState(fieldOfTime(range.to));
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={label}
      action={words.apply}
      onConfirm={() => {
        onApply({ from: fromField(from), to: fromField(to) });
        onClose();
      }}
    >
      {/* Below each other: in Firefox a field with a time is wider than an empty one. */}
      <TextField label={words.from} type="datetime-local" value={from} onChange={setFrom} />
      <TextField label={words.to} type="datetime-local" value={to} onChange={setTo} />
    </ActionDialog>
  );
};

/** The filter of a span of time. It is in the address as times, so that a link shows the same tomorrow. */
export const RangeFilter = ({
  label,
  range,
  onChange,
}: {
  label: string;
  range: Range;
  onChange: (range: Range) => void;
}) => {
  const [asking, setAsking] = useState(false);
  const zone = useZone();
  const written = (iso: string) => exactTime(new Date(iso), zone);
  const { from, to } = range;
  const now =
    from && to
      ? words.fromTo(written(from), written(to))
      : from
        ? words.since(written(from))
        : to
          ? words.until(written(to))
          : null;
  const choose = (chosen: string | undefined) => {
    if (chosen === 'between') setAsking(true);
    else if (chosen === undefined || chosen === 'all' || chosen === 'now')
      onChange({ from: undefined, to: undefined });
    else onChange({ from: new Date(Date.now() - ranges[chosen as RangeName]).toISOString(), to: undefined });
  };
  return (
    <>
      <FilterChoice
        label={label}
        value={[now === null ? 'all' : 'now']}
        onChange={([chosen]) => choose(chosen)}
        options={[
          ...(now === null ? [] : [{ value: 'now', label: now }]),
          { value: 'all', label: words.allTime },
          ...names.map((name) => ({ value: name, label: words.ranges[name] })),
          { value: 'between', label: words.between },
        ]}
      />
      {asking && <Between label={label} range={range} onApply={onChange} onClose={() => setAsking(false)} />}
    </>
  );
};
