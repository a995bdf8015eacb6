import { z } from 'zod';
import type { Scope } from '../lib/principal.ts';

/**
 * Every advanced setting: its check, its default and its description. The API and the documentation of the settings are
 * made from this constant.
 */
export const settingDefinitions = {
  MAX_SCHEDULES_PER_AGENT: [
    z.int().min(0).max(100_000),
    20,
    'How many schedules one agent may have. It is checked when a schedule is created.',
  ],
  MAX_TRIGGERS_PER_AGENT: [
    z.int().min(0).max(100_000),
    20,
    'How many triggers one agent may have. It is checked when a trigger is created.',
  ],
  MAX_EVENT_CONNECTIONS: [
    z.int().min(0).max(100_000),
    50,
    'How many event connections there may be. It is checked when one is created.',
  ],
  MAX_CHANNELS: [
    z.int().min(0).max(10_000),
    50,
    'How many channels there may be. It is checked when one is created.',
  ],
  MAX_ROUTES: [
    z.int().min(0).max(10_000),
    200,
    'How many routes there may be. It is checked when one is created.',
  ],
  MAX_EVENT_SIZE_IN_KB: [z.int().min(1).max(8_192), 1_024, 'Largest body of an event, in KB (1,024 bytes).'],
  EVENT_RETENTION_DAYS: [
    z
      .int()
      .min(0)
      .max(36_500)
      .refine((days) => days === 0 || days >= 7, 'must be 0 or at least 7'),
    30,
    'Events of triggers are removed after this many days; until then the same event starts nothing again. 0 keeps all.',
  ],
  EVENT_BODY_RETENTION_HOURS: [
    z.int().min(0).max(720),
    72,
    'How many hours the headers and bodies of events are kept, encrypted, to be tried and redelivered. 0 stores none.',
  ],
  ALLOW_UNSIGNED_WEBHOOKS: [
    z.boolean(),
    false,
    'Whether a trigger may receive webhooks that nothing authenticates (scheme `none`).',
  ],
  MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: [
    z.int().min(1).max(8_192),
    100,
    'Largest payload of a schedule or Work Item, in KB (1,024 bytes of its compact UTF-8 JSON).',
  ],
  SCHEDULE_MISFIRE_GRACE_SECONDS: [
    z.int().min(1).max(86_400),
    60,
    'An occurrence that is more than this many seconds late counts as missed.',
  ],
  WORK_ITEM_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'Finished Work Items are removed after this many days, with their messages and events. 0 keeps all.',
  ],
  OCCURRENCE_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'The records of occurrences are removed after this many days. 0 keeps all.',
  ],
  WORK_ITEM_LEASE_SECONDS: [
    z.int().min(2).max(3_600),
    30,
    'If a worker does not renew its lease of a Work Item, or of a run of a conversation, for this many seconds, another worker takes it.',
  ],
  MAX_CONCURRENT_WORK_ITEMS: [
    z.int().min(1).max(1_000),
    8,
    'How many Work Items one replica executes at once.',
  ],
  MAX_CONCURRENT_CONVERSATION_RUNS: [
    z.int().min(1).max(10_000),
    50,
    'How many runs of conversations one replica executes at once, besides its Work Items.',
  ],
  MAX_FILE_SIZE_IN_MB: [
    z.int().min(1).max(1_024),
    50,
    'Largest file that may be uploaded, in MB (1,048,576 bytes).',
  ],
  MAX_FILES_PER_CONVERSATION: [
    z.int().min(0).max(10_000),
    100,
    'How many files a conversation or a Work Item may have. It is checked when a file is uploaded.',
  ],
  MAX_DATA_FRAMES_PER_CONVERSATION: [
    z.int().min(0).max(10_000),
    50,
    'How many data frames a conversation or a Work Item may have. It is checked when one is made.',
  ],
  MAX_DATA_FRAME_ROWS: [
    z.int().min(1).max(10_000_000),
    1_000_000,
    'How many rows a data frame may have. The rows after them are left out.',
  ],
  MAX_SANDBOX_PROCESSES: [
    z.int().min(1).max(64),
    2,
    'How many processes one replica runs at once to read files and to query data. Each may use 1 GB of memory. One person gets at most half of them.',
  ],
  MAX_EXTRACTION_PAGES: [
    z.int().min(1).max(1_000),
    100,
    'How many pages of a document one extraction may ask for.',
  ],
  EXTRACTION_RETENTION_HOURS: [
    z.int().min(1).max(8_760),
    24,
    'How many hours the result of an extraction is kept after its end.',
  ],
  RATE_LIMIT_REQUESTS_PER_SECOND: [
    z.int().min(0).max(1_000_000),
    1_000,
    'How many requests per second one API key may send. 0 switches the limit off.',
  ],
  RATE_LIMIT_BURST: [
    z.int().min(1).max(10_000_000),
    2_000,
    'How many requests one API key may send at once.',
  ],
  MAX_DATA_CONNECTIONS: [
    z.int().min(0).max(100_000),
    100,
    'How many data connections there may be. It is checked when one is created.',
  ],
  MAX_SEMANTIC_DATA_MODELS: [
    z.int().min(0).max(100_000),
    500,
    'How many semantic data models there may be. It is checked when one is created.',
  ],
  MAX_CONCURRENT_TRIALS: [
    z.int().min(0).max(1_000),
    4,
    'How many trials of experiments one replica runs at once, besides its Work Items. 0: none.',
  ],
  MAX_TRIALS_PER_EXPERIMENT: [
    z.int().min(1).max(1_000_000),
    10_000,
    'How many trials one experiment may have. It is checked when one is started.',
  ],
  CHARGE_RETENTION_DAYS: [
    z
      .int()
      .min(0)
      .max(36_500)
      .refine((days) => days === 0 || days >= 31, 'must be 0 or at least 31'),
    400,
    'Days after which charges of calls of models are deleted; 0 keeps them.',
  ],
  EXPERIMENT_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'Finished experiments are removed after this many days, with their trials. 0 keeps all.',
  ],
  EVALUATION_TRACES: [z.boolean(), false, 'Whether trials have traces.'],
  MAX_DATASETS: [
    z.int().min(0).max(100_000),
    200,
    'How many datasets there may be. It is checked when one is created.',
  ],
  MAX_CASES_PER_DATASET: [
    z.int().min(0).max(100_000),
    5_000,
    'How many cases one dataset may have. It is checked when a case is created or imported.',
  ],
  MAX_CASE_SIZE_IN_KB: [
    z.int().min(1).max(8_192),
    2_048,
    'Largest case, in KB (1,024 bytes of its compact UTF-8 JSON, without copies of files and data frames).',
  ],
  MAX_BUDGETS: [
    z.int().min(0).max(10_000),
    200,
    'How many budgets there may be. It is checked when one is created.',
  ],
  BUDGET_UNKNOWN_PRICE: [
    z.enum(['refuse', 'allow']),
    'refuse',
    'Whether a call of a model without a known price is made under a budget of money. If it is, it reserves and counts nothing there.',
  ],
  BUDGET_MAX_OUTPUT_TOKENS: [
    z.int().min(16).max(1_000_000),
    16_384,
    'The limit of output tokens that is sent with a call under a budget if its agent has none.',
  ],
  MAX_ALERT_RULES: [
    z.int().min(0).max(10_000),
    500,
    'How many alert rules there may be. It is checked when one is created.',
  ],
  ALERT_RETENTION_DAYS: [
    z.int().min(0).max(36_500),
    90,
    'Resolved alerts are removed after this many days. 0 keeps all.',
  ],
  DATA_CONNECTION_POOL_SIZE: [
    z.int().min(1).max(100),
    4,
    'How many sessions one replica opens at once to the database of one data connection.',
  ],
  REQUIRE_READ_ONLY_CREDENTIALS: [
    z.boolean(),
    false,
    'Whether a data connection whose user may change data is refused. Otherwise its test has a warning.',
  ],
  DATA_QUERY_TIMEOUT_SECONDS: [
    z.int().min(1).max(600),
    30,
    'How many seconds a query to the database of a data connection, or to data frames, may take.',
  ],
  DATA_QUERY_MAX_ROWS: [
    z.int().min(1).max(100_000),
    10_000,
    'The most rows that the response to one query has.',
  ],
  CAPTURE_MESSAGE_CONTENT: [z.boolean(), false, 'Whether traces contain prompts and completions.'],
  TELEMETRY_RETENTION_HOURS: [z.int().min(1).max(8_760), 72, 'How many hours undelivered telemetry is kept.'],
  TELEMETRY_RETENTION_MB: [
    z.int().min(16).max(10_485_760),
    10_240,
    'How many MB of undelivered telemetry a replica keeps. The oldest is removed first.',
  ],
  TRACE_STORE: [
    z.enum(['off', 'agents', 'all']),
    'agents',
    'Which traces the platform keeps for its own pages: `agents` has the spans of agents and every received span, `all` also the application spans of the platform. `off` keeps what there is, and adds nothing.',
  ],
  TRACE_RETENTION_DAYS: [
    z.int().min(1).max(90),
    3,
    'How many days the platform keeps traces. They go a day at a time.',
  ],
  TRACE_RETENTION_MB: [
    z.int().min(16).max(1_048_576),
    1_024,
    'How many MB of the database the traces may take. The oldest eighth is removed first.',
  ],
  TRACE_STORE_SPANS_PER_SECOND: [
    z.int().min(100).max(1_000_000),
    10_000,
    'How many spans per second the platform keeps of one telemetry log. If more come for long, some are left out.',
  ],
  DEFAULT_ROLE: [
    z.enum(['none', 'member', 'builder']),
    'none',
    'The role of a person whom no role mapping matches. `none` refuses the sign-in.',
  ],
  SESSION_IDLE_SECONDS: [
    z.int().min(5).max(2_592_000),
    28_800,
    'A session ends after this many seconds without a request. A lower value holds for existing sessions.',
  ],
  SESSION_MAX_SECONDS: [
    z.int().min(10).max(2_592_000),
    86_400,
    'A session ends this many seconds after the sign-in. A lower value holds for existing sessions.',
  ],
  SESSION_REVALIDATION_SECONDS: [
    z.int().min(5).max(86_400),
    900,
    'How often the identity provider is asked to confirm the person of a session, in seconds.',
  ],
  PERSONAL_KEY_CONFIRMATION_DAYS: [
    z.int().min(0).max(36_500),
    30,
    'A personal key pauses when the identity provider has not confirmed its person for this many days. 0 switches this off.',
  ],
  MAX_API_KEY_DAYS: [
    z.int().min(0).max(36_500),
    0,
    'New API keys must expire within this many days. 0 allows keys that never expire.',
  ],
  MAX_API_KEYS_PER_PERSON: [
    z.int().min(1).max(100_000),
    20,
    'How many API keys a person, or a service account, with the role member may have. Administrators may have any number.',
  ],
  MAX_API_KEYS_PER_BUILDER: [
    z.int().min(1).max(100_000),
    50,
    'How many API keys a person, or a service account, with the role builder may have.',
  ],
  AUDIT_RETENTION_DAYS: [
    z
      .int()
      .min(0)
      .max(36_500)
      .refine((days) => days === 0 || days >= 90, 'must be 0 or from 90 to 36500'),
    0,
    'Entries of the audit log are removed after this many days: 0, which keeps all, or at least 90.',
  ],
} as const satisfies Record<string, readonly [z.ZodType, unknown, string]>;

type Definitions = typeof settingDefinitions;

/**
 * The scopes that a key needs, besides `settings`, to change a setting: they decide who gets in, and what is kept of
 * it.
 */
export const settingScopes: Readonly<Partial<Record<keyof Definitions, Scope>>> = {
  DEFAULT_ROLE: 'access',
  SESSION_IDLE_SECONDS: 'access',
  SESSION_MAX_SECONDS: 'access',
  SESSION_REVALIDATION_SECONDS: 'access',
  PERSONAL_KEY_CONFIRMATION_DAYS: 'access',
  MAX_API_KEY_DAYS: 'access',
  MAX_API_KEYS_PER_PERSON: 'access',
  MAX_API_KEYS_PER_BUILDER: 'access',
  AUDIT_RETENTION_DAYS: 'audit',
};
export type SettingName = keyof Definitions;
export type Settings = { -readonly [N in SettingName]: z.output<Definitions[N][0]> };

export const settingNames = Object.keys(settingDefinitions) as SettingName[];

export const defaultSettings = Object.fromEntries(
  settingNames.map((name) => [name, settingDefinitions[name][1]]),
) as unknown as Settings;
