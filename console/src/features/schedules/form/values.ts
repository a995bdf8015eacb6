import { ApiProblem, type Fault } from '../../../api/index.ts';
import type { PublicSchedule, ScheduleDefinition } from '../../../api/types.gen.ts';
import { jsonText } from '../../../resource/index.ts';
import { copyName } from '../../../text/en/common.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { localZone } from '../../../time/index.ts';
import type { Difference } from '../../../ui/index.ts';
import { defaultTimes, expressionOf, readTime, type Times, timesOf, toPicker } from './repeat.ts';

export const maxMessageLength = 10_000;
const maxNameLength = 200;

/** The values of the form. JSON is kept as it is written. */
export interface Values extends Times {
  agent_id: string | null;
  work_item_name: string;
  timezone: string;
  message: string;
  catch_up: boolean;
  overlap: PublicSchedule['overlap'];
  payload: string;
  /** Without the state of the picker. */
  metadata: string;
}

type JsonObject = Record<string, unknown>;

export const newValues = (agentId: string | undefined): Values => ({
  ...defaultTimes,
  agent_id: agentId ?? null,
  work_item_name: '',
  timezone: localZone(),
  message: '',
  catch_up: true,
  overlap: 'queue',
  payload: '',
  metadata: '',
});

/** The fields of a schedule that a `PUT` replaces. */
export type StoredSchedule = Pick<
  PublicSchedule,
  | 'agent_id'
  | 'work_item_name'
  | 'cron_expression'
  | 'timezone'
  | 'catch_up'
  | 'overlap'
  | 'message'
  | 'payload'
  | 'metadata'
>;

export const toValues = (schedule: StoredSchedule): Values => {
  const { picker, ...metadata } = schedule.metadata;
  return {
    ...timesOf(schedule.cron_expression, picker).times,
    agent_id: schedule.agent_id,
    work_item_name: schedule.work_item_name ?? '',
    timezone: schedule.timezone,
    message: schedule.message,
    catch_up: schedule.catch_up,
    overlap: schedule.overlap,
    payload: jsonText(schedule.payload),
    metadata: jsonText(metadata),
  };
};

/** The values of a schedule like another one. The key of a workspace document belongs to one schedule only. */
export const toCopy = (schedule: StoredSchedule): Values => {
  const { workspace_key: _, ...metadata } = schedule.metadata;
  const name = schedule.work_item_name;
  return toValues({
    ...schedule,
    metadata,
    work_item_name: name && copyName(name).slice(0, maxNameLength),
  });
};

/** Reads a JSON object; nothing is the empty one. Returns what is wrong as a text. */
const readJson = (text: string): JsonObject | string => {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : words.notObject;
  } catch {
    return words.notJson;
  }
};

/** Returns the KB that the API counts for a payload: compact, in UTF-8. Null while it is not JSON. */
export const payloadKb = (text: string): number | null => {
  const value = readJson(text);
  return typeof value === 'string' ? null : new TextEncoder().encode(JSON.stringify(value)).length / 1024;
};

/** Returns the faults of the times, each at its field. */
const timesFaults = (values: Times): Fault[] => {
  if (expressionOf(values) !== null) return [];
  const faults: Fault[] = [];
  const { repeat } = values;
  const timed = repeat === 'daily' || repeat === 'weekly' || repeat === 'monthly';
  if (timed && readTime(values.time) === null) faults.push({ path: 'time', message: words.timeNeeded });
  if (repeat === 'weekly' && values.days.length === 0)
    faults.push({ path: 'days', message: words.daysNeeded });
  if (repeat === 'monthly' && !faults.length) faults.push({ path: 'day', message: words.dayNeeded });
  if (repeat === 'hourly') faults.push({ path: 'minute', message: words.minuteNeeded });
  if (repeat === 'expression') faults.push({ path: 'cron_expression', message: words.expressionNeeded });
  return faults;
};

/** Returns what the API takes. Throws what the form itself can see to be wrong, like a refusal of the API. */
export const toDefinition = (values: Values): ScheduleDefinition & { agent_id: string } => {
  const payload = readJson(values.payload);
  const metadata = readJson(values.metadata);
  const faults = timesFaults(values);
  if (values.agent_id === null) faults.push({ path: 'agent_id', message: words.agentNeeded });
  if (typeof payload === 'string') faults.push({ path: 'payload', message: payload });
  if (typeof metadata === 'string') faults.push({ path: 'metadata', message: metadata });
  if (faults.length > 0 || typeof payload === 'string' || typeof metadata === 'string') {
    throw new ApiProblem(422, { code: 'unprocessable_entity', details: faults });
  }
  return {
    agent_id: values.agent_id!,
    work_item_name: values.work_item_name.trim() || null,
    cron_expression: expressionOf(values)!,
    timezone: values.timezone,
    message: values.message,
    catch_up: values.catch_up,
    overlap: values.overlap,
    payload,
    metadata: { ...metadata, picker: toPicker(values) },
  };
};

/** The API names the field at the start of a 400: `cron_expression: …`. Gives it to the field. */
export const withField = (error: unknown): unknown => {
  if (!(error instanceof ApiProblem) || error.status !== 400 || error.details.length > 0) return error;
  const found = /^(cron_expression|timezone|payload): (.*)$/s.exec(error.message);
  if (!found) return error;
  const details = [{ path: found[1]!, message: found[2]! }];
  return new ApiProblem(400, { ...error.fields, details });
};

export const differences = (theirs: Values, mine: Values): Difference[] => {
  const row = (label: string, read: (values: Values) => string): Difference => ({
    label,
    theirs: read(theirs),
    mine: read(mine),
  });
  return [
    row(words.name, (values) => values.work_item_name),
    row(words.repeat, (values) => expressionOf(values) ?? values.cron_expression),
    row(words.zone, (values) => values.timezone),
    row(words.message, (values) => values.message),
    row(words.catchUp, (values) => (values.catch_up ? words.yes : words.no)),
    row(words.running, (values) => words.whenRunning[values.overlap]),
    row(words.payload, (values) => values.payload),
    row(words.metadata, (values) => values.metadata),
  ];
};
