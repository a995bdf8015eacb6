import { z } from 'zod';

/**
 * Every advanced setting: its default, its check and what it means. A setting exists here or not at all; the
 * API's record, its schema and the documentation come from this constant.
 */
export const settingDefinitions = {
  MAX_SCHEDULES_PER_AGENT: [z.int().min(0).max(100_000), 20, 'Schedules that one agent may have, at create.'],
  MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: [
    z.int().min(1).max(8_192),
    100,
    'Largest payload of a schedule or Work Item, in KB (1,024 bytes of its compact UTF-8 JSON).',
  ],
  SCHEDULE_MISFIRE_GRACE_SECONDS: [
    z.int().min(1).max(86_400),
    60,
    'An occurrence that is later than this many seconds counts as missed.',
  ],
  WORK_ITEM_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'Finished Work Items are removed after this many days, with their messages and events. 0 keeps all.',
  ],
  OCCURRENCE_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'What happened to an occurrence is kept for this many days. 0 keeps all.',
  ],
  WORK_ITEM_LEASE_SECONDS: [
    z.int().min(2).max(3_600),
    30,
    'A Work Item whose worker has not been heard of for this many seconds is given to another.',
  ],
  MAX_CONCURRENT_WORK_ITEMS: [
    z.int().min(1).max(1_000),
    8,
    'Work Items that one replica carries out at once.',
  ],
  RATE_LIMIT_REQUESTS_PER_SECOND: [
    z.int().min(0).max(1_000_000),
    1_000,
    'Requests a second for one API key. 0 switches the limit off.',
  ],
  RATE_LIMIT_BURST: [z.int().min(1).max(10_000_000), 2_000, 'Requests that one API key may send at once.'],
  CAPTURE_MESSAGE_CONTENT: [z.boolean(), false, 'Record prompts and answers in traces.'],
  TELEMETRY_RETENTION_HOURS: [
    z.int().min(1).max(8_760),
    72,
    'Telemetry that could not be delivered is kept for this many hours.',
  ],
  TELEMETRY_RETENTION_MB: [
    z.int().min(16).max(10_485_760),
    10_240,
    'Telemetry that could not be delivered is kept up to this many MB on a replica, oldest removed first.',
  ],
} as const satisfies Record<string, readonly [z.ZodType, unknown, string]>;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export type Settings = { -readonly [N in SettingName]: z.output<Definitions[N][0]> };

export const settingNames = Object.keys(settingDefinitions) as SettingName[];

export const defaultSettings = Object.fromEntries(
  settingNames.map((name) => [name, settingDefinitions[name][1]]),
) as unknown as Settings;
