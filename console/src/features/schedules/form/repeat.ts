/** The kinds of repetition. `expression`: written by hand. */
export const repeats = ['minutes', 'hourly', 'daily', 'weekly', 'monthly', 'expression'] as const;
type Repeat = (typeof repeats)[number];

/** The days of a week as cron numbers them, from Monday. */
export const weekdays = ['1', '2', '3', '4', '5', '6', '0'] as const;
type Weekday = (typeof weekdays)[number];

/** The form's recurrence values. Parts that its kind does not use keep what was chosen before. */
export interface Times {
  repeat: Repeat;
  /** Minutes between two runs. */
  every: number;
  minute: number | null;
  /** `02:30` */
  time: string;
  days: Weekday[];
  day: number | null;
  cron_expression: string;
}

/** Steps that divide an hour, so that the last one is as long as the others. */
export const minuteSteps = [1, 2, 3, 5, 10, 15, 20, 30] as const;

/** The content of `metadata.picker`: only the parts that the kind uses. */
export interface Picker extends Partial<Omit<Times, 'repeat' | 'cron_expression'>> {
  v: 1;
  kind: Repeat;
}

/** Reads hours and minutes as people write them: `2:30`, `0230`, `14.05`. Returns `02:30`, or null. */
export const readTime = (text: string): string | null => {
  const found = /^\s*(\d{1,2})[:.h ]?(\d{2})\s*$/.exec(text);
  if (!found || Number(found[1]) > 23 || Number(found[2]) > 59) return null;
  return `${found[1]!.padStart(2, '0')}:${found[2]}`;
};

const isWhole = (value: unknown, from: number, to: number): value is number =>
  Number.isInteger(value) && (value as number) >= from && (value as number) <= to;

/** Cron's list of days: `1-5`, `0,6`, `*`. */
const dayField = (days: readonly Weekday[]): string => {
  if (days.length === 7) return '*';
  const numbers = days.map(Number).sort((a, b) => a - b);
  const runs: string[] = [];
  for (let k = 0; k < numbers.length; ) {
    let end = k;
    while (numbers[end + 1] === numbers[end]! + 1) end++;
    runs.push(end - k > 1 ? `${numbers[k]}-${numbers[end]}` : numbers.slice(k, end + 1).join(','));
    k = end + 1;
  }
  return runs.join(',');
};

/** Returns the cron expression of what is chosen; null while a part is missing or is not readable. */
export const expressionOf = (times: Omit<Times, 'cron_expression'> & { cron_expression?: string }) => {
  const { repeat, every, minute, days, day } = times;
  const time = readTime(times.time);
  const [hours, minutes] = time === null ? [] : time.split(':').map(Number);
  switch (repeat) {
    case 'minutes':
      return every === 1 ? '* * * * *' : isWhole(every, 2, 59) ? `*/${every} * * * *` : null;
    case 'hourly':
      return isWhole(minute, 0, 59) ? `${minute} * * * *` : null;
    case 'daily':
      return time && `${minutes} ${hours} * * *`;
    case 'weekly':
      return time && days.length > 0 ? `${minutes} ${hours} * * ${dayField(days)}` : null;
    case 'monthly':
      return time && isWhole(day, 1, 31) ? `${minutes} ${hours} ${day} * *` : null;
    case 'expression':
      return times.cron_expression?.trim() || null;
  }
};

/** The times of a new schedule: each morning, at an hour at which someone sees the result. */
export const defaultTimes: Times = {
  repeat: 'daily',
  every: 15,
  minute: 0,
  time: '09:00',
  days: ['1', '2', '3', '4', '5'],
  day: 1,
  cron_expression: '',
};

export const toPicker = ({ repeat, every, minute, time, days, day }: Times): Picker => {
  const at = readTime(time) ?? time;
  switch (repeat) {
    case 'minutes':
      return { v: 1, kind: repeat, every };
    case 'hourly':
      return { v: 1, kind: repeat, minute };
    case 'daily':
      return { v: 1, kind: repeat, time: at };
    case 'weekly':
      return { v: 1, kind: repeat, time: at, days };
    case 'monthly':
      return { v: 1, kind: repeat, time: at, day };
    case 'expression':
      return { v: 1, kind: repeat };
  }
};

/** Reads what someone stored, which can be anything. */
const readPicker = (raw: unknown): Times | null => {
  const picker = raw as Partial<Picker> | null | undefined;
  if (typeof picker !== 'object' || picker === null || picker.v !== 1) return null;
  const repeat = repeats.find((each) => each === picker.kind);
  if (!repeat) return null;
  const { every, minute, time, days, day } = picker;
  return {
    ...defaultTimes,
    repeat,
    every: isWhole(every, 1, 59) ? every : defaultTimes.every,
    minute: isWhole(minute, 0, 59) ? minute : defaultTimes.minute,
    time: (typeof time === 'string' && readTime(time)) || defaultTimes.time,
    days: Array.isArray(days) ? weekdays.filter((each) => days.includes(each)) : defaultTimes.days,
    day: isWhole(day, 1, 31) ? day : defaultTimes.day,
  };
};

/**
 * Returns how a stored schedule repeats. The picker's state is used only if it still produces the stored expression;
 * else the form shows the expression, and `changedOutside` says that the two differ.
 */
export const timesOf = (expression: string, stored: unknown): { times: Times; changedOutside: boolean } => {
  const times = readPicker(stored);
  if (times && times.repeat !== 'expression' && expressionOf(times) === expression) {
    return { times: { ...times, cron_expression: expression }, changedOutside: false };
  }
  return {
    times: { ...(times ?? defaultTimes), repeat: 'expression', cron_expression: expression },
    changedOutside: times !== null && times.repeat !== 'expression',
  };
};
